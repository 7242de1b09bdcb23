import MergeCore

extension GroupRules {
    /// Returns the gateway's decision on an edit of the group; nil if a value is unknown or does not fit its field, such
    /// as a temporary id.
    func decision(old: JSONObject, new: JSONObject, current: JSONObject) -> (
        outcome: String, written: JSONObject, isConflict: Bool
    )? {
        guard let base = values(of: old), let edited = values(of: new), let held = values(of: current) else {
            return nil
        }
        guard isWritable else { return ("no-right", current, true) }
        guard let policy = ConflictPolicy(rawValue: policy) else { return nil }
        let group = MergeCore.Group(
            name: name, fields: 0..<fields.count, onConflict: Ruled(policy), merge: mergeFunction.map { Ruled($0) },
            transitions: steps.map { Ruled($0) })
        let decision = GroupDecision.decide(
            base: .values(base), edited: edited, current: held, group: group, types: fields.map(\.type),
            digest: { _ in [] }
        ).guarded(by: .none, in: group, before: held)
        var written = current
        for (index, value) in (decision.written ?? []).enumerated() {
            written[fields[index].name] = JSONValue(value, in: ValueStyle(fields[index].type))
        }
        return (decision.outcome.rawValue, written, decision.isConflict)
    }

    private func values(of row: JSONObject) -> [MergeCore.Value]? {
        var values: [MergeCore.Value] = []
        for field in fields {
            guard let value = row[field.name], value.temporaryID == nil, let held = try? field.type.accept(value.scalar)
            else { return nil }
            values.append(held)
        }
        return values
    }

    private var mergeFunction: MergeFunction? {
        switch merge {
        case "add": return .add
        case "max": return .max
        case "min": return .min
        case "set": return .set
        case "text": return .text
        case "json": return .json(itemKey: nil)
        default: break
        }
        if let key = merge["json"].stringValue { return .json(itemKey: ExactText(key)) }
        return fields.firstIndex { .string($0.name) == merge["latest"] }.map { .latest(field: $0) }
    }

    private var steps: [MergeCore.Value: Set<MergeCore.Value>]? {
        guard let transitions, let type = fields.first?.type else { return nil }
        var steps: [MergeCore.Value: Set<MergeCore.Value>] = [:]
        for (name, followers) in transitions {
            // A text is itself, any other value its JSON.
            let told = [JSONValue.string(name), JSONValue(text: name)].compactMap { $0 }
            guard let from = told.lazy.compactMap({ try? type.accept($0.scalar) }).first else { continue }
            steps[from] = Set((followers.arrayValue ?? []).compactMap { try? type.accept($0.scalar) })
        }
        return steps
    }
}

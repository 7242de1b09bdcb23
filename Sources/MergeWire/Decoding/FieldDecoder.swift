import MergeCore

/// Converts values of fields to their columns' types.
struct FieldDecoder {
    let section: Section
    let created: CreatedIDs

    /// A value, or a temporary id in its position.
    enum Read {
        case value(Value)
        case pending(TemporaryID)
    }

    func read(_ node: JSONNode, field: Int, _ path: @autoclosure () -> WirePath) throws(Problem) -> Read {
        let scalar = node.scalar
        if let target = section.fields[field].reference {
            if case .text(let text) = scalar, let id = TemporaryID(marked: text) {
                try id.checkLength(path())
                guard created.has(id, for: target) else {
                    if let key = created.earlierKey(id, for: target), let value = key.parts.last {
                        return .value(value)
                    }
                    if created.wasRefused(id) { return .pending(id) }
                    throw Problem(
                        .unknownTemporary,
                        detail: "This push does not create a row of \(target.resource) under the temporary id “\(id)”.",
                        path: path())
                }
                return .pending(id)
            }
            if let id = TemporaryID(number: scalar), created.has(id, for: target) { return .pending(id) }
        }
        return .value(try value(scalar, of: section.columns[section.fields[field].column], at: path()))
    }

    func value(_ scalar: Scalar, of column: Column, at path: @autoclosure () -> WirePath) throws(Problem) -> Value {
        do throws(ValueProblem) {
            return try column.accept(scalar)
        } catch {
            throw Problem(.invalidValue, detail: "“\(path())” \(error.reason).", path: path())
        }
    }

    /// Reads a field and appends its value.
    func read(
        _ node: JSONNode, field: Int, into out: inout FieldValues, _ path: @autoclosure () -> WirePath
    ) throws(Problem) {
        switch try read(node, field: field, path()) {
        case .value(let value): out.values.append(value)
        case .pending(let id):
            out.pending.append(PendingReference(position: out.values.count, id: id))
            out.values.append(.null)
        }
    }

    func values(
        _ nodes: [(field: Int, node: JSONNode, path: WirePath)]
    ) throws(Problem) -> FieldValues {
        var out = FieldValues.none
        for (field, node, path) in nodes {
            out.fields.append(field)
            try read(node, field: field, into: &out, path)
        }
        return out
    }

    /// Refuses legacy values that differ from the base.
    func checkWritable(
        _ edited: FieldValues, base: FieldValues?, path: (Int) -> WirePath
    ) throws(Problem) {
        for (position, value) in edited.values.enumerated() {
            if let base, base.values[position] == value { continue }
            let field = edited.fields[position]
            if let reason = section.type(ofField: field).forbidsWriting(value) {
                throw Problem(.invalidValue, detail: "“\(path(field))” \(reason.reason).", path: path(field))
            }
        }
    }
}

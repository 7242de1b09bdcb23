package import MergeCore

/// Erases a person's values from entries, stored answers and refused pushes.
///
/// An erased entry keeps its time, record, status and the names of its groups. An erased answer is that of a key whose
/// answer no longer exists, so a repeated push never runs again.
package struct JournalEraser: Sendable {
    let subject: ErasureSubject
    private let mark: ErasureMark
    let catalog: Catalog

    /// Creates an eraser for one person.
    package init(of subject: ErasureSubject, mark: ErasureMark, in catalog: Catalog) {
        self.subject = subject
        self.mark = mark
        self.catalog = catalog
    }

    // MARK: Entries

    /// Returns the entry without the person's values, or nil if it contains none.
    ///
    /// - Parameter isOwn: true if the person sent the push.
    package func entry(_ body: [UInt8], of name: String, isOwn: Bool) -> [UInt8]? {
        let erased: [UInt8]?? = JSONDocument.stored(body) { root in
            let resource = catalog[name]
            let key = resource.flatMap { resource in root["id"].flatMap { EntryReader.key($0, resource.root) } }
            let isWhole = isOwn || resource.map { subject.isRecord(key, of: $0) } ?? false
            if isWhole, root["erased"] != nil { return nil }
            let outcomes = root["outcomes"]?.elements ?? []
            let concerned = outcomes.map { outcome in
                outcome["erased"] == nil && (isWhole || concerns(outcome, of: resource, record: key))
            }
            let isNamed = root["conditions"].map(isCondition) ?? false || root["problem"].map(mentions) ?? false
            guard isWhole || isNamed || concerned.contains(true) else { return nil }
            return write(root, erasing: concerned, isWhole: isWhole)
        }
        // An entry that cannot be read may contain anything.
        return erased ?? (isOwn ? tombstone : nil)
    }

    /// The content of an erased entry that has no record.
    package var tombstone: [UInt8] {
        var writer = JSONWriter(capacity: 96)
        writer.object { mark.write(to: &$0) }
        return writer.bytes
    }

    private func write(_ root: JSONNode, erasing concerned: [Bool], isWhole: Bool) -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.object { writer in
            for (name, value) in root.members {
                switch name.string {
                case "outcomes":
                    writer.member("outcomes")
                    writer.array { writer in
                        for (outcome, isErased) in zip(value.elements, concerned) {
                            if isErased { self.heading(of: outcome, to: &writer) } else { writer.raw(outcome.text) }
                        }
                    }
                case "problem":
                    writer.member("problem")
                    self.problem(value, to: &writer)
                case "id", "erased":
                    writer.name(name.string)
                    writer.raw(value.text)
                // The id of the request leads to lines of logs; conditions contain values.
                case "request" where !isWhole:
                    writer.name(name.string)
                    writer.raw(value.text)
                default: break
                }
            }
            if root["erased"] == nil { mark.write(to: &writer) }
        }
        return writer.bytes
    }

    private func heading(of outcome: JSONNode, to writer: inout JSONWriter) {
        writer.object { writer in
            for name in ["section", "id", "group", "outcome", "rule", "conflict"] {
                guard let value = outcome[name] else { continue }
                writer.name(name)
                writer.raw(value.text)
            }
            writer.member("erased")
            writer.flag(true)
        }
    }

    /// The sentence of a problem may contain values.
    private func problem(_ node: JSONNode, to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, source) in [
                ("type", "type"), ("title", "title"), ("status", "status"), ("detail", "title"), ("code", "code"),
            ] {
                guard let value = node[source] else { continue }
                writer.name(name)
                writer.raw(value.text)
            }
        }
    }

    func concerns(_ outcome: JSONNode, of resource: Resource?, record: RecordKey?) -> Bool {
        if subject.isNamed(in: outcome) { return true }
        if outcome["cascades"]?.elements.contains(where: { subject.contains(cascade: $0, in: catalog) }) == true {
            return true
        }
        guard let resource, let index = outcome["section"]?.string.flatMap({ resource.section(named: $0) }) else {
            return false
        }
        let item = outcome["id"].flatMap { EntryReader.key($0, resource.sections[index]) }
        return subject.containsRow(in: index, record: record, item: item, of: resource)
            || ["old", "current", "new", "written"].contains { side in
                outcome[side].map { subject.isShown(by: $0, in: index, of: resource) } ?? false
            }
    }

    /// Returns true if a condition on rows compares with the sender's name.
    private func isCondition(_ node: JSONNode) -> Bool {
        guard let who = subject.who else { return false }
        return node.elements.contains { tuple in
            tuple.string.map { ConditionTuple.contains(text: who, in: Array($0.utf8)) } ?? false
        }
    }

    /// Returns true if a text contains the sender's name as a word.
    private func mentions(_ node: JSONNode) -> Bool {
        guard let who = subject.who, !who.isEmpty else { return false }
        if node.isArray { return node.elements.contains(where: mentions) }
        if node.isObject { return node.members.contains { mentions($0.value) } }
        guard let text = node.string else { return false }
        return text.ranges(of: who).contains { range in
            let neighbours = [text[..<range.lowerBound].last, text[range.upperBound...].first]
            return neighbours.allSatisfy { $0.map { !$0.isLetter && !$0.isNumber } ?? true }
        }
    }
}

import MergeCore

/// Stored answers and refused pushes, which are erased as a whole.
extension JournalEraser {
    /// Returns true if a stored answer contains values of the person.
    package func concerns(answer: [UInt8]) -> Bool {
        JSONDocument.stored(answer) { root in
            if root["problem"]?["code"]?.string == ProblemCode.keyExpired.rawValue { return false }
            return (root["results"]?.elements ?? [root]).contains { concerns(result: $0) }
        } ?? true
    }

    private func concerns(result: JSONNode) -> Bool {
        if subject.isNamed(in: result) { return true }
        guard let resource = result["resource"]?.string.flatMap({ catalog[$0] }) else { return false }
        let key = result.recordKey(of: resource)
        return subject.isRecord(key, of: resource)
            || (result["outcomes"]?.elements ?? []).contains { concerns($0, of: resource, record: key) }
            || (result["record"].map { contains($0, of: resource, key: key) } ?? false)
    }

    /// Returns true if a record, or a changeset, contains a row of the person.
    private func contains(_ record: JSONNode, of resource: Resource, key: RecordKey?) -> Bool {
        resource.sections.enumerated().contains { index, section in
            guard let content = record[section.name], !content.isNull else { return false }
            return (content.isArray ? content.elements : [content]).contains { row in
                let item = row["id"].flatMap { EntryReader.key($0, section) }
                return subject.containsRow(in: index, record: key, item: item, of: resource)
                    || subject.isShown(by: row, in: index, of: resource)
            }
        }
    }

    /// Returns true if a refused push, sent to a path, contains values of the person.
    package func concerns(push: [UInt8], at address: String) -> Bool {
        JSONDocument.stored(push) { root in
            if root["erased"] != nil { return false }
            if subject.isNamed(in: root) { return true }
            let parts = address.split(separator: "/")
            let named = parts.count == 3 ? catalog[String(parts[2])] : nil
            return (root["edits"]?.elements ?? [root]).contains { edit in
                guard let resource = edit["resource"]?.string.flatMap({ catalog[$0] }) ?? named else { return false }
                let key = edit["id"].flatMap { EntryReader.key($0, resource.root) }
                return subject.isRecord(key, of: resource)
                    || (edit["changeset"].map { contains($0, of: resource, key: key) } ?? false)
            }
        } ?? true
    }

    /// The body that replaces a refused push.
    package var erasedPush: [UInt8] { tombstone }

    /// Returns the answer that replaces a stored one.
    package func erasedAnswer(_ answer: [UInt8]) -> [UInt8] {
        JSONDocument.stored(answer) { root in
            var writer = JSONWriter(capacity: 512)
            writer.object { writer in
                writer.member("key")
                if let key = root["key"] { writer.raw(key.text) } else { writer.null() }
                guard let results = root["results"] else { return self.refusal(of: root, to: &writer) }
                writer.member("status")
                writer.string(PushStatus.failed.rawValue)
                writer.member("revision")
                writer.null()
                writer.member("results")
                writer.array { writer in
                    for result in results.elements { writer.object { self.refusal(of: result, to: &$0) } }
                }
                writer.member("problem")
                ProblemEncoder.write(Self.problem, to: &writer)
            }
            return writer.bytes
        } ?? Array(#"{"key":null,"status":"failed","revision":null,"results":[]}"#.utf8)
    }

    private func refusal(of result: JSONNode, to writer: inout JSONWriter) {
        for name in ["resource", "id"] {
            guard let value = result[name] else { continue }
            writer.name(name)
            writer.raw(value.text)
        }
        writer.member("status")
        writer.string(PushStatus.failed.rawValue)
        writer.member("record")
        writer.null()
        writer.member("outcomes")
        writer.array { _ in }
        writer.member("problem")
        ProblemEncoder.write(Self.problem, to: &writer)
    }

    private static let problem = Problem(
        .keyExpired,
        detail:
            "An operator erased the answer to this push. The push was answered before and did not run again. Compare "
            + "it with the current record.", retry: .never)
}

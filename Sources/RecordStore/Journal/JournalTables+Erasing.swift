package import MergeCore

/// A row of the journal with everything that may contain values.
package struct ErasableRow: Sendable, Hashable {
    /// The number of the entry.
    package let number: Int
    /// The name of the sender.
    package let who: String
    /// The key of the push, such as `undo:5`; nil if it had none.
    package let key: String?
    /// The name of the resource; nil if the row has no record.
    package let resource: String?
    /// The content of the entry.
    package let entry: [UInt8]?
    /// The stored answer without the digest of the client's access.
    package let answer: [UInt8]?
    /// The digest of the client's access, as stored.
    package let access: [UInt8]?
    /// The refused push.
    package let refused: RefusedBody?
}

/// The contents that replace those of one row.
package struct RowErasure: Sendable, Hashable {
    /// The content of the entry.
    package var entry: [UInt8]?
    /// The stored answer.
    package var answer: KeptAnswer?
    /// The refused push.
    package var push: [UInt8]?
    /// True if the name of the sender and the device are erased.
    package var isAnonymous = false

    /// Makes an erasure that changes nothing.
    package init() {}

    /// True if the row stays as it is.
    package var isEmpty: Bool { entry == nil && answer == nil && push == nil && !isAnonymous }
}

extension JournalTables {
    /// The name that replaces an erased sender.
    package static let erasedSender = "(erased)"

    /// Returns the statement that reads rows after a number, to erase values in them.
    package func erasable(after number: Int, limit: Int) -> Statement {
        Statement(
            sql:
                "SELECT n, who, push_key, resource, entry, answer, address, body, reason FROM \(dialect.quoted(entries)) "
                + "WHERE n > ? ORDER BY n LIMIT ?",
            binds: [Self.bind(number), Self.bind(limit)],
            columns: [
                JournalColumn.number, JournalColumn.text, JournalColumn.text, JournalColumn.text, JournalColumn.bytes,
                JournalColumn.bytes, JournalColumn.text, JournalColumn.bytes, JournalColumn.text,
            ])
    }

    /// Decodes a row of `erasable`.
    package func erasable(_ row: [Value]) -> ErasableRow? {
        guard row.count == 9, case .integer(let number) = row[0] else { return nil }
        func bytes(_ value: Value) -> [UInt8]? {
            if case .bytes(let bytes) = value { PackedBytes.unpack(bytes) } else { nil }
        }
        func text(_ value: Value) -> String? {
            if case .text(let text) = value { text.string } else { nil }
        }
        let answer = bytes(row[5]).map { KeptAnswer.split($0) }
        return ErasableRow(
            number: Int(clamping: number), who: text(row[1]) ?? "", key: text(row[2]), resource: text(row[3]),
            entry: bytes(row[4]),
            answer: answer?.body, access: answer?.access,
            refused: bytes(row[7]).map {
                RefusedBody(address: text(row[6]) ?? "", body: $0, reason: text(row[8]) ?? "")
            })
    }

    /// Returns the statement that replaces the contents of a row.
    ///
    /// An answer that was pruned meanwhile is not stored again.
    package func replace(_ number: Int, by erasure: RowErasure) -> Statement {
        var (sets, binds): ([String], [Bind]) = ([], [])
        if let entry = erasure.entry {
            sets.append("entry = ?")
            binds.append(Self.bind(PackedBytes.pack(entry)))
        }
        if let push = erasure.push {
            sets.append("body = ?")
            binds.append(Self.bind(push))
        }
        if let answer = erasure.answer {
            // MariaDB assigns from left to right, so the condition of the code comes first.
            sets.append("code = CASE WHEN answer IS NULL THEN code ELSE ? END")
            sets.append("answer = CASE WHEN answer IS NULL THEN NULL ELSE ? END")
            binds += [Self.bind(answer.storedCode), Self.bind(PackedBytes.pack(answer.storedBody))]
        }
        if erasure.isAnonymous {
            sets += ["who = ?", "device = NULL"]
            binds.append(Self.bind(Self.erasedSender))
        }
        return Statement(
            sql: "UPDATE \(dialect.quoted(entries)) SET \(sets.joined(separator: ", ")) WHERE n = ?",
            binds: binds + [Self.bind(number)])
    }
}

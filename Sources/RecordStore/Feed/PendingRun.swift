/// The changes that one INSERT into the journal stands for, as a row of the table `pending` keeps them.
///
/// The numbers of the entries are known only to the database when the row is written; so it names each entry by its
/// position in the INSERT.
package struct PendingRun: Sendable, Hashable {
    /// A record that one entry of the run changed.
    package struct Change: Sendable, Hashable {
        /// The position of the entry in its INSERT, from 0.
        package let position: Int
        /// The record.
        package let name: RecordName
        /// The sender of the push.
        package let sender: Sender

        /// Notes that the entry at a position changed a record.
        package init(position: Int, name: RecordName, sender: Sender) {
            self.position = position
            self.name = name
            self.sender = sender
        }
    }

    /// In the order of the edits.
    package var changes: [Change]

    /// Makes a run of changes.
    package init(changes: [Change]) {
        self.changes = changes
    }

    /// Returns the changes with the numbers of their entries.
    ///
    /// - Parameters:
    ///   - first: the number of the first entry of the INSERT.
    ///   - step: the distance between two numbers, which is more than 1 on a cluster.
    package func numbered(from first: Int, step: Int) -> [CommittedChange] {
        changes.map { change in
            CommittedChange(name: change.name, entry: first + change.position * step, sender: change.sender)
        }
    }

    // MARK: Bytes

    /// The form in which a row keeps the run: numbers as LEB128, texts with their length before them.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        for change in changes {
            Self.append(change.position, to: &out)
            Self.append(change.name.resource, to: &out)
            Self.append(change.name.record, to: &out)
            Self.append(change.sender.who, to: &out)
            // No text has the length 0 and is there, so one more tells absence.
            guard let device = change.sender.device else {
                Self.append(0, to: &out)
                continue
            }
            Self.append(device.utf8.count + 1, to: &out)
            out += Array(device.utf8)
        }
        return out
    }

    private static func append(_ number: Int, to out: inout [UInt8]) {
        var rest = UInt(bitPattern: number)
        while rest >= 0x80 {
            out.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        out.append(UInt8(rest))
    }

    private static func append(_ text: String, to out: inout [UInt8]) {
        append(text.utf8.count, to: &out)
        out += Array(text.utf8)
    }

    /// Reads what `bytes` wrote; nil where it is damaged.
    package init?(bytes: [UInt8]) {
        var reader = Reader(rest: bytes[...])
        var changes: [Change] = []
        while !reader.rest.isEmpty {
            guard let position = reader.number(), let resource = reader.text(), let record = reader.text(),
                let who = reader.text(), let mark = reader.number()
            else { return nil }
            var device: String?
            if mark > 0 {
                guard let text = reader.text(of: mark - 1) else { return nil }
                device = text
            }
            changes.append(
                Change(
                    position: position, name: RecordName(resource: resource, record: record),
                    sender: Sender(who: who, device: device)))
        }
        self.changes = changes
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func number() -> Int? {
            var number: UInt = 0
            var shift: UInt = 0
            while let byte = rest.popFirst(), shift < 63 {
                number |= UInt(byte & 0x7F) << shift
                if byte < 0x80 { return Int(exactly: number) }
                shift += 7
            }
            return nil
        }

        mutating func text() -> String? { number().flatMap { text(of: $0) } }

        mutating func text(of count: Int) -> String? {
            guard count >= 0, count <= rest.count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return String(validating: rest.prefix(count), as: UTF8.self)
        }
    }
}

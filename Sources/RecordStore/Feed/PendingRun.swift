/// The changes of one INSERT into the journal, as a row of `pending` stores them.
///
/// The database numbers the entries when it writes them. So a run names each entry by its position in the INSERT.
package struct PendingRun: Sendable, Hashable {
    /// A record that one entry of the run changed.
    package struct Change: Sendable, Hashable {
        /// The position of the entry in its INSERT, from 0.
        package let position: Int
        /// The record.
        package let name: RecordName
        /// The sender of the push.
        package let sender: Sender
        /// The change of the condition columns; nil if no condition applies to the record.
        package let step: ConditionStep?

        /// Describes a change by the entry at a position.
        package init(position: Int, name: RecordName, sender: Sender, step: ConditionStep? = nil) {
            self.step = step
            self.position = position
            self.name = name
            self.sender = sender
        }
    }

    /// The changes in the order of the edits.
    package var changes: [Change]

    /// Makes a run of changes.
    package init(changes: [Change]) {
        self.changes = changes
    }

    /// Returns the changes with the numbers of their entries.
    ///
    /// - Parameter step: the distance between two numbers, which is more than 1 on a cluster.
    package func numbered(from first: Int, step: Int) -> [CommittedChange] {
        changes.map { change in
            CommittedChange(
                name: change.name, entry: first + change.position * step, sender: change.sender,
                steps: change.step.map { [$0] } ?? [])
        }
    }

    // MARK: Bytes

    /// The first bytes of a run with steps; no other run begins with this long form of 0.
    private static let stepMark: [UInt8] = [0x80, 0]

    /// The stored form: numbers as LEB128, texts with their length.
    package var bytes: [UInt8] {
        let hasSteps = changes.contains { $0.step != nil }
        var out = hasSteps ? Self.stepMark : []
        for change in changes {
            LEB128.append(change.position, to: &out)
            LEB128.append(change.name.resource, to: &out)
            LEB128.append(change.name.record, to: &out)
            LEB128.append(change.sender.who, to: &out)
            LEB128.append(change.sender.device.map { Array($0.utf8) }, to: &out)
            guard hasSteps else { continue }
            LEB128.append(change.step == nil ? 0 : 1, to: &out)
            guard let step = change.step else { continue }
            LEB128.append(step.before, to: &out)
            LEB128.append(step.after, to: &out)
        }
        return out
    }

    /// Decodes `bytes`; nil if they are damaged.
    package init?(bytes: [UInt8]) {
        let hasSteps = bytes.starts(with: Self.stepMark)
        var reader = LEB128.Reader(rest: bytes.dropFirst(hasSteps ? Self.stepMark.count : 0))
        var changes: [Change] = []
        while !reader.rest.isEmpty {
            guard let position = reader.number(), let resource = reader.text(), let record = reader.text(),
                let who = reader.text(), let told = reader.optionalBytes()
            else { return nil }
            var device: String?
            if let told {
                guard let text = String(validating: told, as: UTF8.self) else { return nil }
                device = text
            }
            var step: ConditionStep?
            if hasSteps {
                guard let mark = reader.number() else { return nil }
                if mark == 1 {
                    guard let before = reader.optionalBytes(), let after = reader.optionalBytes() else { return nil }
                    step = ConditionStep(before: before, after: after)
                }
            }
            changes.append(
                Change(
                    position: position, name: RecordName(resource: resource, record: record),
                    sender: Sender(who: who, device: device), step: step))
        }
        self.changes = changes
    }
}

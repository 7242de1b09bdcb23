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
        /// The step that conditions of access see; nil where none look at the record.
        package let step: ConditionStep?

        /// Notes that the entry at a position changed a record.
        package init(position: Int, name: RecordName, sender: Sender, step: ConditionStep? = nil) {
            self.step = step
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
            CommittedChange(
                name: change.name, entry: first + change.position * step, sender: change.sender,
                steps: change.step.map { [$0] } ?? [])
        }
    }

    // MARK: Bytes

    /// Begins a run whose changes have steps; no run without them begins so, since it is no shortest number.
    private static let stepMark: [UInt8] = [0x80, 0]

    /// The form in which a row keeps the run: numbers as LEB128, texts with their length before them.
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

    /// Reads what `bytes` wrote; nil where it is damaged.
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

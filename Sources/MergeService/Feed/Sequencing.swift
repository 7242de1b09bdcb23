import MergeCore
package import RecordStore

/// Assigns revisions to committed changes.
///
/// The counter's row stays locked until the transaction ends. So all gateways assign revisions in the order of commits.
package enum Sequencing {
    /// Assigns the next revisions, one for each record; the last change of a record counts.
    ///
    /// - Parameters:
    ///   - changes: in the order of their commits.
    ///   - holder: the gateway that sequences alone for some seconds; nil changes nothing.
    /// - Returns: the highest assigned revision.
    /// - Throws: `StoreError`; of the kind `schemaChanged` if the feed does not exist.
    @discardableResult
    package static func give(
        _ changes: [CommittedChange], in feed: FeedTables, holder: String? = nil, _ session: any StoreSession
    ) throws(StoreError) -> Int {
        guard case .integer(let number)? = try session.query(feed.lock).first?.first else {
            throw StoreError(
                .schemaChanged,
                "the journal “\(feed.schema)” has lost its feed; begin another with “fieldmerge journal new-feed”")
        }
        var last = Int(clamping: number)
        try feed.floor.check(last)
        var noted: [(change: CommittedChange, revision: Int, conditions: ConditionHistory?)] = []
        let collapsed = collapsed(changes)
        let histories = try histories(of: collapsed.filter { !$0.steps.isEmpty }.map(\.name), in: feed, session)
        var departures: [FeedTables.Departure] = []
        var overtaken: [Int] = []
        for change in collapsed {
            last += 1
            var history = change.steps.isEmpty ? nil : histories[change.name] ?? ConditionHistory()
            let former = history?.departures ?? []
            history?.append(change.steps, at: last)
            noted.append((change, last, history))
            guard let left = history?.departures, left != former else { continue }
            overtaken += former.subtracting(left)
            if left.contains(last) {
                departures.append(FeedTables.Departure(revision: last, name: change.name, push: change.push))
            }
        }
        if noted.isEmpty { return last }
        var statements =
            (feed.note(noted) + feed.forgetDepartures(at: overtaken) + feed.note(departures)
            + [feed.setLast(last, holder: holder)])[...]
        try session.run({ statements.popFirst() }) { _ in }
        return last
    }

    /// Returns the last change of each record, with all its changes for access conditions.
    static func collapsed(_ changes: [CommittedChange]) -> [CommittedChange] {
        var steps: [RecordName: [ConditionStep]] = [:]
        for change in changes where !change.steps.isEmpty { steps[change.name, default: []] += change.steps }
        var seen: Set<RecordName> = []
        return changes.reversed().filter { seen.insert($0.name).inserted }.reversed().map { change in
            guard let all = steps[change.name] else { return change }
            var whole = change
            whole.steps = all
            return whole
        }
    }

    private static let mostNames = 100

    /// Reads the earlier values of records that access conditions tested.
    ///
    /// - Throws: `StoreError`.
    package static func histories(
        of names: [RecordName], in feed: FeedTables, _ session: any StoreSession
    ) throws(StoreError) -> [RecordName: ConditionHistory] {
        var histories: [RecordName: ConditionHistory] = [:]
        var start = 0
        while start < names.count {
            let piece = Array(names[start..<min(start + mostNames, names.count)])
            start += mostNames
            for row in try session.query(feed.conditions(of: piece)) {
                if let known = feed.conditions(row) { histories[known.name] = known.history }
            }
        }
        return histories
    }
}

import MergeCore
package import RecordStore

/// Gives committed changes their revisions.
///
/// The counter's row stays locked until the transaction ends, so that revisions are given in the order of commits,
/// whichever gateway gives them.
package enum Sequencing {
    /// Gives changes the next revisions, one for each record: the last change of a record counts.
    ///
    /// - Parameters:
    ///   - changes: in the order in which they were committed.
    ///   - holder: the gateway to which the others leave it for some seconds; nil leaves that as it is.
    /// - Returns: the highest revision that was given by then.
    /// - Throws: `StoreError`; of the kind `schemaChanged` where there is no feed.
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

    /// Each record once, where it changed last, with all steps that conditions of access see.
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

    /// Returns what conditions of access have looked at so far in records.
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

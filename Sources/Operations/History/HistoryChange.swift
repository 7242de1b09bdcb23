/// The reasons why a history differs from the one before.
package enum HistoryFault: String, Sendable, Hashable, CaseIterable {
    case feedBehind
    case entriesBehind
    case commitsBehind
    case otherServer
    case otherJournal

    /// A sentence for operators.
    package var sentence: String {
        switch self {
        case .feedBehind: "The journal's feed has a lower revision than before."
        case .entriesBehind: "The journal has fewer entries than before."
        case .commitsBehind: "The server has lost transactions that it had committed."
        case .otherServer: "Another server is behind the address of the database."
        case .otherJournal: "Another journal is in the place of the former one."
        }
    }
}

/// A history that differs from the one before.
package struct HistoryChange: Sendable, Hashable {
    /// The reasons; at least one.
    package let faults: [HistoryFault]
    /// True if keys of pushes may be gone.
    package let losesKeys: Bool

    /// The reasons as one text.
    package var reason: String { faults.map(\.sentence).joined(separator: " ") }
}

extension HistoryPosition {
    /// Compares the current position with the highest one that a gateway has read.
    ///
    /// - Parameters:
    ///   - memory: the position in this gateway's memory; nil if there is none yet.
    ///   - noted: the server position in the journal; nil if there is none.
    /// - Returns: nil if the history is the same.
    package func change(since memory: HistoryPosition?, noted: ServerPosition?) -> HistoryChange? {
        guard let memory else { return change(sinceNoted: noted) }
        guard memory.journal == journal else {
            // A new journal begins with a new feed and without keys.
            return isFresh ? nil : HistoryChange(faults: [.otherJournal], losesKeys: true)
        }
        // Another gateway or an operator has begun a feed, so the memory belongs to the history before it.
        if feed != memory.feed, epoch > memory.epoch { return change(sinceNoted: noted) }
        var faults: [HistoryFault] = []
        if isFeedBehind(memory) { faults.append(.feedBehind) }
        if entry < memory.entry { faults.append(.entriesBehind) }
        if server.commits.isBehind(memory.server.commits) || noted.map({ server.commits.isBehind($0.commits) }) == true
        {
            faults.append(.commitsBehind)
        }
        let losesKeys = !faults.isEmpty
        // Everything that this gateway has read still exists, so a promoted replica has the keys too.
        if server.isOther(than: memory.server) || noted.map({ server.isOther(than: $0) }) == true {
            faults.append(.otherServer)
        }
        return faults.isEmpty ? nil : HistoryChange(faults: faults, losesKeys: losesKeys)
    }

    private func change(sinceNoted noted: ServerPosition?) -> HistoryChange? {
        guard let noted else { return nil }
        var faults: [HistoryFault] = []
        if server.commits.isBehind(noted.commits) { faults.append(.commitsBehind) }
        if server.isOther(than: noted) { faults.append(.otherServer) }
        return faults.isEmpty ? nil : HistoryChange(faults: faults, losesKeys: true)
    }

    private func isFeedBehind(_ memory: HistoryPosition) -> Bool {
        feed != memory.feed || revision < memory.revision
    }

    /// Returns the higher of two positions of one history.
    package func union(_ other: HistoryPosition) -> HistoryPosition {
        guard journal == other.journal, feed == other.feed else { return self }
        var union = self
        union.server.commits = server.commits.union(other.server.commits)
        union.revision = max(revision, other.revision)
        union.entry = max(entry, other.entry)
        return union
    }
}

extension ServerPosition {
    fileprivate func isOther(than former: ServerPosition) -> Bool {
        guard let server, let known = former.server else { return false }
        return server != known
    }
}

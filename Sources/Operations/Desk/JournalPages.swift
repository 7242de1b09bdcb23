package import MergeService
package import RecordStore

/// Reads pages of the journal in pieces, which limits their bytes: an entry may be as long as a body.
package struct JournalPages: Sendable {
    private let service: MergeService
    private let active: ActiveRules
    private let deadline: ContinuousClock.Instant

    private static let mostBytes = 8 << 20
    private static let firstPiece = 8
    private static let longestPiece = 256
    /// After a shorter piece, the next piece has twice the entries.
    private static let shortPiece = 256 << 10

    /// Reads for one request.
    package init(service: MergeService, active: ActiveRules, deadline: ContinuousClock.Instant) {
        self.service = service
        self.active = active
        self.deadline = deadline
    }

    /// Returns the entries of a page, and the number after which the next page begins; nil on the last page.
    ///
    /// A page of conflicts ends with its window, and may be empty.
    package func page(_ filter: JournalFilter) async throws -> (entries: [StoredEntry], next: Int?) {
        guard filter.onlyConflicts else { return try await read(filter) }
        guard let numbers = try await service.entryNumbers(active: active, deadline: deadline),
            let window = SearchWindow(of: numbers, after: filter.after, isBackward: filter.isBackward)
        else { return ([], nil) }
        var part = filter
        part.range = window.range
        let found = try await read(part)
        return (found.entries, found.next ?? window.next)
    }

    private func read(_ filter: JournalFilter) async throws -> (entries: [StoredEntry], next: Int?) {
        var entries: [StoredEntry] = []
        var bytes = 0
        var size = Self.firstPiece
        var rest = filter
        while true {
            let wanted = min(size, filter.limit - entries.count)
            // One more entry shows that a next page exists.
            rest.limit = wanted + 1
            let found = try await service.entries(rest, active: active, deadline: deadline)
            entries += found.prefix(wanted)
            guard found.count > wanted else { return (entries, nil) }
            let length = found.prefix(wanted).reduce(0) { $0 + $1.byteCount }
            bytes += length
            if entries.count == filter.limit || bytes >= Self.mostBytes { return (entries, entries.last?.number) }
            rest.after = entries.last?.number
            if length < Self.shortPiece { size = min(size * 2, Self.longestPiece) }
        }
    }
}

extension StoredEntry {
    fileprivate var byteCount: Int { 256 + (entry?.body.count ?? 0) + (refused?.body.count ?? 0) }
}

import GRDB
import Synchronization

extension StoreFile {
    private static let mostFailures = 3

    /// Builds the declared indexes and keeps them up to date, in separate transactions, until the store is closed.
    func keepIndexes(ringing bells: Bells) {
        guard context.indexes.isDeclared else { return }
        let changes = bells.subscribe(to: .indexes)
        Task(priority: .utility) {
            var claimed: String?
            var failures = 0
            var isFirst = true
            var iterator = changes.makeAsyncIterator()
            while failures < Self.mostFailures {
                if !isFirst, await iterator.next() == nil { return }
                isFirst = false
                do {
                    while try await self.extendIndexes(&claimed) { failures = 0 }
                } catch let error as DatabaseError where error.isOfIndex {
                    claimed = nil
                    failures += 1
                    isFirst = true
                    _ = try? await self.dropIndexes()
                } catch {
                    // For example a full disk. The next change is the next try.
                }
            }
        }
    }

    /// Runs the next transaction; returns whether there may be another.
    ///
    /// - Parameter claimed: the version of the rules by which this opening has declared its indexes.
    func extendIndexes(_ claimed: inout String?) async throws -> Bool {
        if context.isIndexBroken.withLock({ isBroken in
            defer { isBroken = false }
            return isBroken
        }) {
            claimed = nil
            try await dropIndexes()
        }
        let (version, isStale) = try await read { (try $0.rules()?.version, try $0.hasStaleIndexes()) }
        guard let version, version != claimed || isStale else { return false }
        let isClaimed = version == claimed
        _ = try await write("index") { ledger in
            if !isClaimed { try ledger.claimIndexes() }
            try ledger.extendIndexes()
        }
        claimed = version
        return true
    }
}

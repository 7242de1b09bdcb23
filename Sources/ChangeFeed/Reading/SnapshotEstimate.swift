package import MergeCore
package import MergeService
package import RecordStore
import Synchronization

extension ActiveRules {
    /// The maximum rows that are counted.
    ///
    /// Larger tables are estimated.
    private static let counted = 100_000

    /// Estimates the number of records for a progress bar; nil if this would be expensive.
    ///
    /// - Parameter viewer: the client; nil for all rights.
    package func estimate(
        of resources: [Resource], for viewer: Viewer? = nil, in service: MergeService,
        _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Int? {
        let dialect = service.engine.dialect
        return try await service.engine.read(deadline: deadline) { session throws(StoreError) in
            var sum = 0
            for resource in resources {
                let view = viewer?.view(of: resource)
                guard let count = try Self.estimate(of: resource.root, for: view, dialect, session) else { return nil }
                sum += count
            }
            return sum
        }
    }

    /// Returns true if clients can read no record of any resource; false also after an error.
    package func isEmpty(_ service: MergeService) async -> Bool {
        for resource in catalog.resources {
            let hasRecords = Atomic<Bool>(false)
            do {
                _ = try await service.page(
                    resource, after: nil, limit: 1, deadline: .now.advanced(by: .seconds(5))
                ) { records in
                    if !records.isEmpty { hasRecords.store(true, ordering: .relaxed) }
                    return nil
                }
            } catch {
                return false
            }
            if hasRecords.load(ordering: .relaxed) { return false }
        }
        return true
    }

    private static func estimate(
        of root: Section, for view: ResourceView?, _ dialect: any Dialect, _ session: any StoreSession
    ) throws(StoreError) -> Int? {
        if let view, !view.seesEveryRow {
            // The estimate must not reveal rows of other clients, and counting the client's own rows may be slow.
            guard let filter = view.rowFilter, filter.isExact else { return nil }
            let question = SectionSQL.of(root, dialect).count(showing: filter, atMost: counted)
            guard case .integer(let count)? = try session.query(question).first?.first, count < counted else {
                return nil
            }
            return Int(clamping: count)
        }
        if let question = dialect.estimate(of: root.table),
            case .integer(let rows)? = try session.query(question).first?.first, rows > counted
        {
            // A visibility condition requires a count.
            return root.visibility == nil ? Int(clamping: rows) : nil
        }
        guard case .integer(let count)? = try session.query(SectionSQL.of(root, dialect).count).first?.first else {
            return nil
        }
        return Int(clamping: count)
    }
}

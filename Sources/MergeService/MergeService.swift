package import MergeCore
package import RecordStore

/// The digest of a group's values as they stand on the wire: SHA-256 of their canonical JSON.
package typealias GroupDigest = @Sendable (_ section: Section, _ group: Int, _ values: [Value]) -> [UInt8]

/// What a gateway does with a request once it is typed: reads records and merges pushes.
package struct MergeService: Sendable {
    package let engine: any RecordEngine
    package let limits: MergeLimits
    private let digest: GroupDigest

    package init(engine: any RecordEngine, limits: MergeLimits = MergeLimits(), digest: @escaping GroupDigest) {
        self.engine = engine
        self.limits = limits
        self.digest = digest
    }

    /// One record in one snapshot; nil where there is none.
    package func record(
        _ resource: Resource, _ key: RecordKey, deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Record? {
        try await engine.read(deadline: deadline) { session throws(StoreError) in
            try reader(resource, session).records([key], locking: false)[key]
        }
    }

    /// A page of records in key order, in one snapshot.
    /// - Returns: at most `limit` records, and the key after which the next page begins; nil at the end.
    package func page(
        _ resource: Resource, after key: RecordKey?, limit: Int, deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> (records: [Record], next: RecordKey?) {
        if resource.root.keyCount == 0 { return try await keylessPage(resource, key, limit, deadline) }
        let found = try await engine.read(deadline: deadline) { session throws(StoreError) in
            try reader(resource, session).page(after: key, limit: limit + 1)
        }
        let records = Array(found.prefix(limit))
        return (records, found.count > limit ? records.last?.key : nil)
    }

    /// Without a key a page is named by how many records stand before it.
    private func keylessPage(
        _ resource: Resource, _ key: RecordKey?, _ limit: Int, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> (records: [Record], next: RecordKey?) {
        var offset = 0
        if case .integer(let number)? = key?.parts.first { offset = Int(clamping: number) }
        let start = offset
        let found = try await engine.read(deadline: deadline) { session throws(StoreError) in
            try reader(resource, session).page(offset: start, limit: limit + 1)
        }
        let next = RecordKey([.integer(Int128(start + limit))])
        return (Array(found.prefix(limit)), found.count > limit ? next : nil)
    }

    private func reader(_ resource: Resource, _ session: any StoreSession) -> RecordReader {
        RecordReader(
            resource: resource, session: session, dialect: engine.dialect, rowsPerRecord: limits.rowsPerRecord)
    }

    /// Merges a push in one transaction.
    ///
    /// - Parameter isPreview: does everything that a push does, and then takes the transaction back.
    /// - Throws: a `Failure` where there is no result: a fault in the request, or a database that cannot be used.
    package func merge(
        _ push: Push, served: Served, isPreview: Bool = false, deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushResult {
        let plan: PushPlan
        do {
            if isPreview { try Self.checkPreviewable(push) }
            plan = try PushPlan(push)
        } catch {
            throw Failure(problem: error, cause: nil)
        }
        do {
            let dialect = engine.dialect
            let attempt: PushAttempt
            do {
                attempt = try await engine.write(deadline: deadline, locking: Self.tablesToLock(push, served)) {
                    [limits, digest] session throws(StoreError) -> Ending<PushAttempt> in
                    let ending = try PushRun(
                        plan, served, session: session, dialect: dialect, limits: limits, digest: digest
                    ).run()
                    guard isPreview, case .commit(let attempt) = ending else { return ending }
                    return .rollback(attempt)
                }
            } catch {
                guard case .constraint = error.kind else { throw error }
                attempt = Self.refusedAtCommit(push, error.problem)
            }
            if let fault = attempt.fault { throw Failure(problem: fault, cause: nil) }
            let records = try await records(of: attempt, deadline)
            return ResultAssembly(push: push, reports: attempt.reports, wasRolledBack: attempt.records == nil)
                .result(records)
        } catch let error as StoreError {
            throw Failure(problem: error.problem, cause: error)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(problem: StoreError(.other, "").problem, cause: nil)
        }
    }

    /// What a table without transactions writes is there at once, and its triggers are never taken back.
    private static func checkPreviewable(_ push: Push) throws(Problem) {
        guard let edit = push.edits.first(where: { !$0.resource.isAtomic }) else { return }
        throw Problem(
            status: 422, code: "no-preview", title: "There is no preview of this resource",
            detail: "Tables of “\(edit.resource.name)” know no transactions, so nothing written there can be a trial.",
            path: edit.path, retry: false)
    }

    /// Where a table without transactions takes part, all tables of the push are locked, because a session that holds
    /// some may touch no others.
    private static func tablesToLock(_ push: Push, _ served: Served) -> [TableName] {
        guard push.edits.contains(where: { !$0.resource.isAtomic }) else { return [] }
        var tables = Set(push.edits.flatMap { $0.resource.sections.map(\.table) })
        var pending = Array(tables)
        while let table = pending.popLast() {
            for dependent in served.schema.dependents[table] ?? [] where tables.insert(dependent.table).inserted {
                pending.append(dependent.table)
            }
        }
        return tables.sorted { $0.description < $1.description }
    }

    /// A constraint that the database checks only at COMMIT names no row.
    private static func refusedAtCommit(_ push: Push, _ problem: Problem) -> PushAttempt {
        var reports = push.edits.map(EditReport.init)
        for index in reports.indices { reports[index].problem = problem }
        return PushAttempt(reports: reports)
    }

    /// What stands now; after a transaction that was taken back it is read anew.
    private func records(
        of attempt: PushAttempt, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [Record?] {
        if let records = attempt.records { return records }
        let dialect = engine.dialect
        return try await engine.read(deadline: deadline) { [limits] session throws(StoreError) in
            try RecordCollector(session, dialect, limits).records(of: attempt.reports)
        }
    }
}

/// Why a request has no result.
package struct Failure: Error, Sendable {
    /// What the client is told.
    package let problem: Problem
    /// What the log is told.
    package let cause: StoreError?
}

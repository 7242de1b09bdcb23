import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Erases the values of one person from all tables of the journal, in small transactions while gateways run.
struct JournalErasure: Sendable {
    let journal: Journal
    let eraser: JournalEraser
    /// The sender whose pushes are erased; nil if the person is a record.
    let who: String?
    /// The names of the person's record; empty for a sender.
    let records: [RecordName]
    let isPreview: Bool
    let deadline: ContinuousClock.Instant

    private static let batch = 50

    /// Erases the values, and counts them.
    ///
    /// The command may be repeated: erased entries, answers and pushes are not erased again.
    func run() async throws(StoreError) -> ErasureReport {
        var report = ErasureReport()
        var number = 0
        var found: Set<Int> = []
        while let batch = try await eraseEntries(after: number, knowing: found, &report), let last = batch.last {
            number = last
            found.formUnion(batch.ofSender)
        }
        if let who { try await eraseSender(who, report: &report) }
        if let who, !isPreview { try await journal.forgetClients(of: who, until: .now.advanced(by: .seconds(60))) }
        try await eraseHistories(&report)
        return report
    }

    // MARK: Entries

    /// Erases values in the rows after a number.
    ///
    /// - Parameter found: the earlier entries with values of the sender.
    private func eraseEntries(
        after number: Int, knowing found: Set<Int>, _ report: inout ErasureReport
    ) async throws(StoreError) -> Batch? {
        while true {
            let batch = try await eraseBatch(after: number, knowing: found)
            if let batch {
                report.entries += batch.report.entries
                report.answers += batch.report.answers
                report.refused += batch.report.refused
                return batch
            }
            // Recovery of an in-doubt transaction needs the values of its entries.
            do {
                try await Task.sleep(for: .milliseconds(5))
            } catch {
                throw StoreError(.busy, "the erasure was cancelled")
            }
            if ContinuousClock.now >= deadline {
                throw StoreError(
                    .busy, "a COMMIT is in doubt; start the gateway, which decides about it, and try again")
            }
        }
    }

    private struct Batch: Sendable {
        var last: Int?
        var report = ErasureReport()
        /// The entries with values of the sender.
        var ofSender: Set<Int> = []
    }

    /// - Returns: nil if the batch contains entries of an in-doubt transaction.
    private func eraseBatch(after number: Int, knowing found: Set<Int>) async throws(StoreError) -> Batch? {
        try await transaction { session throws(StoreError) in
            let rows = try session.query(journal.tables.erasable(after: number, limit: Self.batch))
                .compactMap { journal.tables.erasable($0) }
            let inDoubt = try session.query(journal.tables.allPending).compactMap {
                journal.tables.pending($0)?.numbers
            }
            if rows.contains(where: { row in inDoubt.contains { $0.contains(row.number) } }) { return nil }
            var batch = Batch(last: rows.last?.number)
            for row in rows {
                let settled = settledEntry(row)
                let settlesSender = settled.map { found.contains($0) || batch.ofSender.contains($0) } ?? false
                if settlesSender || isOfSender(row) { batch.ofSender.insert(row.number) }
                let erasure = self.erasure(of: row, settlesSender: settlesSender)
                if erasure.isEmpty { continue }
                batch.report.entries += erasure.entry == nil && !erasure.isAnonymous ? 0 : 1
                batch.report.answers += erasure.answer == nil ? 0 : 1
                batch.report.refused += erasure.push == nil ? 0 : 1
                if !isPreview { _ = try session.execute(journal.tables.replace(row.number, by: erasure)) }
            }
            return batch
        }
    }

    /// Returns true for an entry of the sender, and for one of a sender who was erased before.
    private func isOfSender(_ row: ErasableRow) -> Bool {
        who != nil && (row.who == who || row.who == JournalTables.erasedSender)
    }

    /// Returns the number of the entry that this one undoes or resends.
    private func settledEntry(_ row: ErasableRow) -> Int? {
        guard let key = row.key, key.hasPrefix("undo:") || key.hasPrefix("resend:") else { return nil }
        return key.split(separator: ":").last.flatMap { Int($0) }
    }

    /// - Parameter settlesSender: true for an undo or a resend of an entry with values of the sender.
    private func erasure(of row: ErasableRow, settlesSender: Bool) -> RowErasure {
        var erasure = RowErasure()
        erasure.isAnonymous = row.who == who
        var isOwn = erasure.isAnonymous || settlesSender
        if let entry = row.entry {
            if let resource = row.resource {
                erasure.entry = eraser.entry(entry, of: resource, isOwn: isOwn)
            } else if isOwn {
                erasure.entry = eraser.tombstone
            }
        }
        // The entry of an undo or a resend is erased together with its answer.
        if settlesSender, !erasure.isAnonymous { isOwn = erasure.entry != nil }
        let concernsPush =
            row.refused.map {
                isOwn ? ErasureMark.time(in: $0.body) == nil : eraser.concerns(push: $0.body, at: $0.address)
            }
            ?? false
        let concernsAnswer = row.answer.map { isOwn || eraser.concerns(answer: $0) } ?? false
        // The answer to a refused push names its merged edits, which a resend would merge again.
        if concernsPush || concernsAnswer {
            if row.refused != nil { erasure.push = eraser.erasedPush }
            if let answer = row.answer {
                erasure.answer = KeptAnswer(
                    request: nil, status: .failed, failure: .expiredKey, body: eraser.erasedAnswer(answer),
                    access: row.access)
            }
        }
        return erasure
    }

    // MARK: The feed

    private func eraseSender(_ who: String, report: inout ErasureReport) async throws(StoreError) {
        report.changes = try await transaction { session throws(StoreError) in
            let feed = journal.tables.feed
            // Sequencing moves rows from one table to the other meanwhile.
            if !isPreview { _ = try session.query(feed.lock) }
            var count = 0
            for statement in feed.count(of: who) {
                if case .integer(let rows)? = try session.query(statement).first?.first { count += Int(clamping: rows) }
            }
            for row in try session.query(feed.pendingRuns) {
                guard let renaming = feed.renamed(row, who, to: JournalTables.erasedSender) else { continue }
                count += 1
                if !isPreview { _ = try session.execute(renaming) }
            }
            if isPreview { return count }
            for statement in feed.rename(who, to: JournalTables.erasedSender) { _ = try session.execute(statement) }
            _ = try session.execute(journal.tables.forgetDrops(by: who))
            return count
        }
    }

    private func eraseHistories(_ report: inout ErasureReport) async throws(StoreError) {
        if who == nil {
            guard !records.isEmpty else { return }
            report.histories = try await transaction { session throws(StoreError) in
                if !isPreview { _ = try session.query(journal.tables.feed.lock) }
                return try erase(try session.query(journal.tables.feed.conditions(of: records)), in: session).erased
            }
            return
        }
        var revision = 0
        while true {
            let page = try await transaction { [revision] session throws(StoreError) -> (rows: [[Value]], Histories) in
                if !isPreview { _ = try session.query(journal.tables.feed.lock) }
                let rows = try session.query(journal.tables.feed.histories(after: revision, limit: 500))
                return (rows, try erase(rows.map { Array($0.prefix(3)) }, in: session))
            }
            report.histories += page.1.erased
            report.current += page.1.current
            guard case .integer(let last)? = page.rows.last?.last else { return }
            revision = Int(clamping: last)
        }
    }

    private struct Histories: Sendable {
        var erased = 0
        var current = 0
    }

    private func erase(_ rows: [[Value]], in session: any StoreSession) throws(StoreError) -> Histories {
        let feed = journal.tables.feed
        var found = Histories()
        for row in rows {
            guard let (name, history) = feed.conditions(row) else { continue }
            func names(_ tuple: [UInt8]) -> Bool { who.map { ConditionTuple.contains(text: $0, in: tuple) } ?? true }
            if who != nil, history.latest.map(names) ?? false { found.current += 1 }
            var rest = history
            guard rest.leaveOut(where: names) else { continue }
            found.erased += 1
            if isPreview { continue }
            for statement in feed.forgetDepartures(at: history.departures.subtracting(rest.departures).sorted())
                + [feed.set(rest, of: name)]
            {
                _ = try session.execute(statement)
            }
        }
        return found
    }

    /// Runs one transaction, which a preview only reads.
    private func transaction<Answer: Sendable>(
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let limit = min(deadline, .now.advanced(by: .seconds(60)))
        if isPreview { return try await journal.engine.read(deadline: limit) { s throws(StoreError) in try body(s) } }
        return try await journal.engine.write(deadline: limit) { session throws(StoreError) in
            .commit(try body(session))
        }
    }
}

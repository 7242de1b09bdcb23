import MergeCore
import RecordStore
import SQLiteStore
import Synchronization
import Testing

@testable import MergeService

/// Conflicts report who wrote the current value, with one read of the journal.
@Suite struct AuthorSearchTests {
    /// Entries of one record, the newest first, in the order of the journal.
    private final class Entries: StoreSession {
        private let count: Int
        var asked = 0
        var read = 0

        init(_ count: Int) {
            self.count = count
        }

        func query(_ statement: Statement) throws(StoreError) -> [[Value]] {
            asked += 1
            let numbers = statement.binds.compactMap { bind in
                if case .integer(let number) = bind.value { Int(number) } else { nil }
            }
            let before = numbers.count > 1 ? numbers[0] : count + 1
            let found = (max(1, before - (numbers.last ?? 0))..<before).reversed()
            read += found.count
            let day = CalendarDate(year: 2026, month: 1, day: 1)
            guard let at = day.flatMap({ DateTime(date: $0, microseconds: 0) }) else { return [] }
            return found.map { number in
                [
                    .integer(Int128(number)), .dateTime(at), .text(ExactText("anna")), .null,
                    .bytes(Array("\(number)".utf8)),
                ]
            }
        }

        func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows {
            throw .unanswered
        }
        func execute(_ statement: Statement) throws(StoreError) -> Execution { throw .unanswered }
        func send(_ statement: Statement) -> Ticket { Ticket(number: 0) }
        func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] { throw .unanswered }
        func set(_ savepoint: Savepoint) throws(StoreError) {}
        func rollBack(to savepoint: Savepoint) throws(StoreError) {}
        func release(_ savepoint: Savepoint) throws(StoreError) {}
        var mustLockReads: Bool { false }
    }

    private final class Decoded: Sendable {
        let count = Mutex(0)
    }

    /// A thousand conflicts of one record need its entries once, and no more of them than up to the last write.
    @Test("Many conflicts read the history once")
    func manyConflicts() async throws {
        let counters = try await Counters(.together, policy: .clientWins)
        let result = try #require(try await counters.add(3, base: 4).result)
        #expect(result.results.first?.outcomes.first?.isConflict == true)
        let many = PushResult(
            key: nil, status: result.status, results: (0..<1_000).flatMap { _ in result.results })
        let decoded = Decoded()
        func search(_ entries: Entries, writtenBy writer: Int) throws -> PushResult {
            let codec = JournalCodec(
                entry: { _, _, _ in [] }, key: { key, _ in "\(key.parts.count)" },
                traces: { _, _, _, _ in EntryTraces(rows: [:]) }, effects: { _, _ in [] },
                writes: WriteReader { entry, _, rows in
                    decoded.count.withLock { $0 += 1 }
                    guard entry == Array("\(writer)".utf8) else { return [:] }
                    return Dictionary(
                        uniqueKeysWithValues: rows.map { ($0, RowWrites([.group(0, [.plain(.integer(5))])])) })
                })
            let journal = Journal(
                tables: JournalTables(schema: "main", dialect: counters.engine.dialect), codec: codec,
                together: counters.engine)
            return try AuthorSearch(journal: journal, active: counters.active, session: entries).told(many)
        }
        let all = Entries(100)
        let told = try search(all, writtenBy: 41)
        #expect(told.results.count == 1_000)
        #expect(told.results.allSatisfy { $0.outcomes.first?.authorship?.author?.entry == 41 })
        #expect(decoded.count.withLock { $0 } == 60 && all.read < 70)
        // No entry wrote the value. Only the newest two hundred are searched.
        let none = try search(Entries(1_000), writtenBy: 0)
        #expect(none.results.allSatisfy { $0.outcomes.first?.authorship == Authorship(author: nil) })
        #expect(decoded.count.withLock { $0 } == 60 + 200)
    }
}

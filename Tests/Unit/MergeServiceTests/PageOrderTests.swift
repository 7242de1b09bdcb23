import MergeCore
import RecordStore
import Testing

@testable import MergeService
@testable import SQLiteStore

/// If a database compares a key in another form than it returns, a page could follow itself.
@Suite struct PageOrderTests {
    /// Returns the same rows for each query.
    private final class SameRows: StoreSession {
        let rows: [[Value]]
        private(set) var asked = 0

        init(_ rows: [[Value]]) {
            self.rows = rows
        }

        var mustLockReads: Bool { false }

        func query(_ statement: Statement) throws(StoreError) -> [[Value]] {
            asked += 1
            return rows
        }

        func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows { HashedRows() }
        func execute(_ statement: Statement) throws(StoreError) -> Execution { Execution(generatedKey: 0) }
        func send(_ statement: Statement) -> Ticket { Ticket(number: 0) }
        func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] { rows }
        func set(_ savepoint: Savepoint) throws(StoreError) {}
        func rollBack(to savepoint: Savepoint) throws(StoreError) {}
        func release(_ savepoint: Savepoint) throws(StoreError) {}
    }

    @Test("A page that contains the key after which it begins is an error")
    func order() throws {
        let number = ColumnType.integer(0...1_000_000)
        let section = Section(
            name: "t", kind: .root,
            table: SectionTable(
                TableName(name: "t"), columns: [Column(name: "id", type: number, isNullable: false)], keyCount: 1))
        let resource = try #require(Resource(name: "t", description: nil, sections: [section]))
        let session = SameRows([[.integer(1)], [.integer(2)]])
        let reader = RecordReader(
            resource: resource, session: session, dialect: SQLiteDialect(), rowsPerRecord: 10)
        #expect(try reader.page(after: nil, limit: 2).count == 2)
        let error = #expect(throws: StoreError.self) {
            try reader.page(after: RecordKey([.integer(2)]), limit: 2)
        }
        #expect(error?.kind == .other)
    }
}

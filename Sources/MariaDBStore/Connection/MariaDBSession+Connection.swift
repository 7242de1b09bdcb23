import MergeCore
import RecordStore

extension MariaDBSession: StoreConnection {
    var isUsable: Bool { !isBroken }

    /// The pool lends a connection to one borrower at a time.
    var isExclusive: Bool { true }

    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer {
        try begin(locking: tables)
        let ending: Ending<Answer>
        do {
            ending = try body(self)
        } catch {
            abandon()
            throw error
        }
        switch ending {
        case .commit(let answer):
            try commit()
            return answer
        case .rollback(let answer):
            abandon()
            return answer
        }
    }

    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        try beginSnapshot()
        defer { abandon() }
        return try body(self)
    }

    func refusals(of statements: [Statement]) throws(StoreError) -> [StoreError?] {
        defer { abandon() }
        return try preparing(statements)
    }

    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema {
        defer { abandon() }
        return try SchemaReader(self).read(tables)
    }
}

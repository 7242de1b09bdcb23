import MergeCore
import RecordStore

/// Numbers of new rows (`number: next`).
extension PushTransaction {
    /// Inserts a row; if the gateway numbers it, under the next number within its other key columns.
    ///
    /// The number is read under a lock. If another transaction uses it nevertheless, this transaction runs again, as
    /// after a deadlock.
    ///
    /// - Parameters:
    ///   - key: the known columns of the row's key, and its links to its record.
    ///   - insert: inserts the row with the number, if any.
    func numbered(
        _ row: EditedRow, key: [Assignment], insert: ([Assignment]) throws(PushStop) -> RecordKey
    ) throws(PushStop) -> RecordKey {
        let section = row.section
        guard section.gatewayNumbersKey, let column = section.generatedKeyColumn,
            !key.contains(where: { $0.column == column })
        else { return try insert([]) }
        let others = (0..<column).compactMap { part in key.first { $0.column == part }?.value }
        guard others.count == column else { return try insert([]) }
        let number = Assignment(column: column, value: try nextNumber(for: row, within: others))
        do throws(PushStop) {
            return try insert([number])
        } catch {
            guard try isTaken(RecordKey(others + [number.value]), of: section, after: error) else { throw error }
            throw .store(StoreError(.serialization, "another transaction took the number of a new row"))
        }
    }

    /// Returns one more than the highest number, which may belong to a row that this push deleted.
    private func nextNumber(for row: EditedRow, within others: [Value]) throws(PushStop) -> Value {
        let section = row.section
        var highest = writer.deletedNumber(in: run.footprint(section), within: others)
        if let stored = try run.query(run.sql(section).highestNumber(within: others)).first?.first {
            guard case .integer(let number) = stored else {
                throw .store(
                    StoreError(.unreadable, "the last key column of table “\(section.table)” contains no integer"))
            }
            highest = max(highest, number)
        }
        guard case .integer(let range) = section.columns[section.keyCount - 1].type, highest < range.upperBound else {
            throw .refused(
                row.index,
                Problem(
                    .keysExhausted,
                    detail:
                        "No number is left for a new row of “\(section.name)”. An operator must enlarge the column.",
                    path: row.edit.path, retry: .never, fields: ["id"]))
        }
        return .integer(highest + 1)
    }

    private func isTaken(_ key: RecordKey, of section: Section, after error: PushStop) throws(PushStop) -> Bool {
        switch error {
        case .again(.lookAgain): return true
        case .refused(let refusal) where refusal.problem.code == .unique:
            return try !facts.rows(
                of: section, withKey: key, includesHidden: true, includesEquated: true, &writer
            ).isEmpty
        case .refused, .again, .store, .fault: return false
        }
    }
}

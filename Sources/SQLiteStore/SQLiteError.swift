internal import GRDB
internal import GRDBSQLite
import RecordStore

/// Converts SQLite's result codes to `StoreError`s. Source of the codes: https://www.sqlite.org/rescode.html
enum SQLiteError {
    static func storeError(_ error: any Error, deleting: Bool = false) -> StoreError {
        if let error = error as? StoreError { return error }
        guard let error = error as? DatabaseError else {
            return StoreError(.other, "the SQLite file could not be used")
        }
        return storeError(
            code: error.extendedResultCode.rawValue, message: error.message ?? "", deleting: deleting)
    }

    static func storeError(code: Int32, message: String, deleting: Bool) -> StoreError {
        if code & 0xFF == SQLITE_CONSTRAINT {
            let violation = violation(code, message: message, deleting: deleting)
            return StoreError(
                .constraint(violation), "a constraint refused the write: \(violation.kind.rawValue)", code: Int(code))
        }
        let kind: StoreError.Kind
        let text: String
        switch code & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED: (kind, text) = (.fileLocked, "the SQLite file is locked by another")
        case SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY:
            (kind, text) = (.unwritable, "the SQLite file cannot be written: \(String(cString: sqlite3_errstr(code)))")
        case SQLITE_CANTOPEN, SQLITE_PERM:
            (kind, text) = (.unavailable, "the SQLite file cannot be used: \(String(cString: sqlite3_errstr(code)))")
        case SQLITE_NOTADB, SQLITE_CORRUPT: (kind, text) = (.unavailable, "the file is not a valid SQLite database")
        case SQLITE_INTERRUPT: (kind, text) = (.busy, "a statement took longer than it may")
        case SQLITE_ERROR
        where message.hasPrefix("no such column") || message.hasPrefix("no such table")
            || message.contains("has no column") || message.contains("generated column"):
            (kind, text) = (.schemaChanged, "the schema has changed: \(message)")
        case SQLITE_ERROR where message.hasPrefix("cannot modify"):
            (kind, text) = (.denied, "the view cannot be written: \(message)")
        case SQLITE_TOOBIG: (kind, text) = (.tooLarge, "a value is longer than SQLite accepts")
        case SQLITE_ERROR
        where message.hasPrefix("near ") || message.contains("function") || message.contains("incomplete"):
            (kind, text) = (.other, "a statement is not understood: \(message)")
        case SQLITE_MISMATCH:
            (kind, text) = (.constraint(ConstraintViolation(.value)), "a value does not fit its column")
        default: (kind, text) = (.other, "SQLite refused a statement: \(String(cString: sqlite3_errstr(code)))")
        }
        return StoreError(kind, text, code: Int(code))
    }

    private static func violation(_ code: Int32, message: String, deleting: Bool) -> ConstraintViolation {
        let tail = message.firstRange(of: "failed: ").map { String(message[$0.upperBound...]) } ?? ""
        switch code {
        case 2067, 1555, 2579:
            if tail.hasPrefix("index '") {
                return ConstraintViolation(.unique, name: String(tail.dropFirst(7).dropLast()))
            }
            return ConstraintViolation(.unique, columns: columns(tail))
        case 787: return ConstraintViolation(deleting ? .referenced : .foreignKey)
        case 275: return ConstraintViolation(.check, name: tail.isEmpty ? nil : tail)
        case 1299: return ConstraintViolation(.notNull, columns: columns(tail))
        case 1811: return ConstraintViolation(.trigger, sentence: message)
        case 3091:
            let column = message.split(separator: " ").last.map { columns(String($0)) } ?? []
            return ConstraintViolation(.value, columns: column)
        default: return ConstraintViolation(.check)
        }
    }

    /// The columns of `table.a, table.b`.
    private static func columns(_ list: String) -> [String] {
        list.split(separator: ", ").map { name in
            name.firstIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? String(name)
        }
    }
}

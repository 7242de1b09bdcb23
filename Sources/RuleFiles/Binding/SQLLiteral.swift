import MergeCore
import RecordStore

/// A constant in the operator's SQL: NULL, an integer or a quoted text.
struct SQLLiteral {
    private enum Content {
        case null
        case integer(Int64)
        case text(String)
    }

    private let content: Content

    /// Returns nil if the SQL is another expression, or a text with an escape.
    init?(_ sql: String) {
        let text = sql.trimmingPrefix(while: \.isWhitespace)
        let trimmed = String(text.reversed().drop(while: \.isWhitespace).reversed())
        if trimmed.lowercased() == "null" {
            content = .null
        } else if let number = Int64(trimmed) {
            content = .integer(number)
        } else if trimmed.count > 1, trimmed.first == "'", trimmed.last == "'" {
            let inner = trimmed.dropFirst().dropLast()
            if inner.contains("'") || inner.contains("\\") { return nil }
            content = .text(String(inner))
        } else {
            return nil
        }
    }

    /// Returns the reason if the column certainly cannot store the constant.
    func fault(in column: ColumnSchema) -> String? {
        guard let type = column.types.first else { return nil }
        switch content {
        case .null: return column.isNullable ? nil : "the column is NOT NULL"
        case .integer(let number):
            // In SQL, a number names a member of an ENUM or SET by its position.
            switch type {
            case .enumeration, .set: return nil
            default: return fault(.integer(number), in: type)
            }
        case .text(let text): return fault(.text(text), in: type)
        }
    }

    private func fault(_ scalar: Scalar, in type: ColumnType) -> String? {
        do throws(ValueProblem) {
            return type.forbidsWriting(try type.accept(scalar)).map { "it \($0.reason)" }
        } catch {
            return "it \(error.reason)"
        }
    }
}

/// The database constraint that refused a write.
package struct ConstraintViolation: Sendable, Hashable {
    /// The kinds of constraints.
    package enum Kind: String, Sendable, Hashable {
        case unique
        /// The row refers to a missing row.
        case foreignKey = "foreign-key"
        /// Other rows refer to the row.
        case referenced
        case check
        case notNull = "not-null"
        /// A trigger refused the write (SIGNAL, RAISE).
        case trigger
        /// The column cannot store the value.
        case value
        /// The database has no number left for the key of a new row.
        case exhausted = "keys-exhausted"
    }

    /// The kind of constraint.
    package let kind: Kind
    /// The name of the constraint or index, if the database reports it.
    package let name: String?
    /// The columns, if the database reports them.
    package let columns: [String]
    /// The message of the operator's own trigger for the user.
    package let sentence: String?

    /// The violation as text for the log: `check “grown”`, `not null: name`.
    package var words: String {
        var words = kind.rawValue.replacing("-", with: " ")
        if let name { words += " “\(name)”" }
        if !columns.isEmpty { words += ": " + columns.joined(separator: ", ") }
        if let sentence { words += ": " + sentence }
        return words
    }

    /// Describes a violation.
    package init(_ kind: Kind, name: String? = nil, columns: [String] = [], sentence: String? = nil) {
        self.kind = kind
        self.name = name
        self.columns = columns
        self.sentence = sentence
    }
}

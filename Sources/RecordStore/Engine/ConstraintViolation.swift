/// The rule of the database that a write broke.
package struct ConstraintViolation: Sendable, Hashable {
    /// The kinds of constraints.
    package enum Kind: String, Sendable, Hashable {
        case unique
        /// The row refers to a row that is not there.
        case foreignKey = "foreign-key"
        /// Other rows refer to the row.
        case referenced
        case check
        case notNull = "not-null"
        /// A trigger refused the write (SIGNAL, RAISE).
        case trigger
        /// The column cannot hold the value.
        case value
        /// The database has no number left for the key of a new row.
        case exhausted = "keys-exhausted"
    }

    /// The kind of constraint.
    package let kind: Kind
    /// The constraint's or index's name, where the database tells it.
    package let name: String?
    /// The columns, where the database tells them.
    package let columns: [String]
    /// The sentence of the operator's own trigger for the user.
    package let sentence: String?

    /// The violation in the database's words, for the log: `check “grown”`, `not null: name`.
    package var words: String {
        var words = kind.rawValue.replacing("-", with: " ")
        if let name { words += " “\(name)”" }
        if !columns.isEmpty { words += ": " + columns.joined(separator: ", ") }
        if let sentence { words += ": " + sentence }
        return words
    }

    /// Describes what was violated.
    package init(_ kind: Kind, name: String? = nil, columns: [String] = [], sentence: String? = nil) {
        self.kind = kind
        self.name = name
        self.columns = columns
        self.sentence = sentence
    }
}

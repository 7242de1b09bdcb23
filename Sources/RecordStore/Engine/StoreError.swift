/// Why the database refused or could not do what was asked.
///
/// Messages never hold values of rows.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A kind of error, by what a caller can do about it.
    package enum Kind: Sendable, Hashable {
        /// The database cannot be reached, or the connection broke before COMMIT: nothing was written.
        case unavailable
        /// The database can be read and not written, because its disk is full or it is read-only: nothing was written.
        case unwritable
        /// No connection or lock could be had in time: nothing was written.
        case busy
        /// So many wait already that another would wait in vain: nothing was asked of the database.
        case overloaded
        /// The transaction was chosen as the victim of a deadlock or met a newer snapshot: run it again.
        case serialization
        /// The connection broke during COMMIT: nobody here knows whether it took effect.
        case unknownOutcome
        /// A constraint of the database refused the write.
        case constraint(ConstraintViolation)
        /// A table or column is not what the schema said when it was read.
        case schemaChanged
        /// A right is missing.
        case denied
        /// A column holds something that its type cannot express.
        case unreadable
        /// A record is larger than the gateway serves.
        case tooLarge
        /// The journal keeps an answer under the push's key already.
        case knownKey
        /// The undo or the resend has taken effect already.
        case takenEffect
        /// Anything else.
        case other
    }

    package let kind: Kind
    /// A sentence on what happened, where, and what to do; safe for logs.
    package let message: String
    /// The engine's own number of the error; 0 where it has none.
    package let code: Int

    package init(_ kind: Kind, _ message: String, code: Int = 0) {
        self.kind = kind
        self.message = message
        self.code = code
    }

    package var description: String { code == 0 ? message : "\(message) (error \(code))" }
}

/// Which rule of the database a write broke.
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

    package let kind: Kind
    /// The constraint's or index's name, where the database tells it.
    package let name: String?
    /// The columns, where the database tells them.
    package let columns: [String]
    /// The sentence of the operator's own trigger for the user.
    package let sentence: String?

    package init(_ kind: Kind, name: String? = nil, columns: [String] = [], sentence: String? = nil) {
        self.kind = kind
        self.name = name
        self.columns = columns
        self.sentence = sentence
    }
}

package import MergeCore

/// An error of the database.
///
/// Messages contain no values of rows.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of errors, by the caller's options.
    package enum Kind: Sendable, Hashable {
        /// The database cannot be reached; nothing was written.
        case unavailable
        /// The database can only be read, because its disk is full or it is read-only; nothing was written.
        case unwritable
        /// No connection or lock was free in time; nothing was written.
        case busy
        /// Too many callers wait already; the database was not queried.
        case overloaded
        /// The transaction was the victim of a deadlock or met a newer snapshot: run it again.
        case serialization
        /// Rows stayed locked by another transaction until the time limit; nothing was written.
        case locked
        /// Another program has locked the file; nothing was written.
        case fileLocked
        /// The connection is dead or broke before COMMIT; nothing was written, and another connection may work.
        case disconnected
        /// The connection broke during COMMIT; the outcome is unknown.
        case unknownOutcome
        /// A constraint of the database refused the write.
        case constraint(ConstraintViolation)
        /// A table or column differs from the schema that was read.
        case schemaChanged
        case denied
        /// A column contains a value that its type cannot express.
        case unreadable
        /// A record is larger than the gateway serves.
        case tooLarge
        /// The journal already contains an answer under the push's key.
        case knownKey
        /// The undo or the resend has already taken effect.
        case takenEffect
        case other
    }

    /// The kind of error.
    package let kind: Kind
    /// The event, its place and the remedy, in a sentence that is safe for logs.
    package let message: String
    /// The engine's own number of the error; 0 if there is none.
    package let code: Int

    /// Makes an error with a message that contains no values of rows.
    package init(_ kind: Kind, _ message: String, code: Int = 0) {
        self.kind = kind
        self.message = message
        self.code = code
    }

    package var description: String { code == 0 ? message : "\(message) (error \(code))" }
}

extension StoreError {
    /// The error if the rows after a key contain this key, so that reading would never end.
    package static func unordered(_ table: TableName) -> StoreError {
        StoreError(
            .other,
            "the rows of table “\(table)” behind a key contain that key: the database compares the key otherwise than it "
                + "returns it; name another key in the rules")
    }
}

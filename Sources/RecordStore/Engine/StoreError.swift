package import MergeCore

/// An error of the database, which refused or could not do what was asked.
///
/// Messages never hold values of rows.
package struct StoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A kind of error, by what a caller can do about it.
    package enum Kind: Sendable, Hashable {
        /// The database cannot be reached: nothing was written.
        case unavailable
        /// The database can be read and not written, because its disk is full or it is read-only: nothing was written.
        case unwritable
        /// No connection or lock could be had in time: nothing was written.
        case busy
        /// So many wait already that another would wait in vain: nothing was asked of the database.
        case overloaded
        /// The transaction was chosen as the victim of a deadlock or met a newer snapshot: run it again.
        case serialization
        /// Rows stayed locked by another transaction for as long as one may wait: nothing was written.
        case locked
        /// Another program holds the whole file: nothing was written.
        case fileLocked
        /// The connection is dead, or broke before COMMIT: another one may do; nothing was written.
        case disconnected
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

    /// The kind of error.
    package let kind: Kind
    /// A sentence on what happened, where, and what to do; safe for logs.
    package let message: String
    /// The engine's own number of the error; 0 where it has none.
    package let code: Int

    /// Makes an error of a sentence that holds no values of rows.
    package init(_ kind: Kind, _ message: String, code: Int = 0) {
        self.kind = kind
        self.message = message
        self.code = code
    }

    package var description: String { code == 0 ? message : "\(message) (error \(code))" }
}

extension StoreError {
    /// The error if the rows behind a key contain that key, so that reading on would never end.
    package static func unordered(_ table: TableName) -> StoreError {
        StoreError(
            .other,
            "the rows of table “\(table)” behind a key contain that key: the database compares the key otherwise than it "
                + "returns it; name another key in the rules")
    }
}

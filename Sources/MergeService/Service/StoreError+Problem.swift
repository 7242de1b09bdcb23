package import MergeCore
package import RecordStore

extension StoreError {
    /// The problem that a client is told of.
    ///
    /// Details of the database stay in the log.
    package var problem: Problem {
        switch kind {
        case .unavailable, .disconnected:
            Problem(
                status: 503, code: "database-unavailable", title: "The database cannot be reached",
                detail: "Nothing was written; try again later.", retry: true, retryAfter: 5)
        case .unwritable:
            Problem(
                status: 503, code: "cannot-write", title: "The database cannot be written",
                detail: "Its disk is full or it is read-only; nothing was written.", retry: true, retryAfter: 5)
        case .busy, .serialization, .locked, .fileLocked, .knownKey:
            Problem(
                status: 503, code: "busy", title: "The database is busy",
                detail: "The rows stay locked or no connection is free; nothing was written.", retry: true,
                retryAfter: 1)
        case .overloaded:
            Problem(
                status: 503, code: "overloaded", title: "Too many requests are waiting",
                detail: "The gateway has more to do than it can; nothing was written.", retry: true, retryAfter: 1)
        case .takenEffect:
            Problem(
                status: 409, code: "taken-effect", title: "It was done before",
                detail: "The undo or the resend has taken effect before; nothing was written.", retry: false)
        case .unknownOutcome:
            Problem(
                status: 504, code: "unknown-outcome", title: "The outcome is unknown",
                detail: "The connection to the database broke during COMMIT.", retry: true)
        case .schemaChanged:
            Problem(
                status: 503, code: "schema-changed", title: "The database has changed",
                detail: "A table or column is not what it was when the rules were read; nothing was written.",
                retry: true, retryAfter: 5)
        case .constraint(let violation):
            Problem(
                status: 422, code: violation.kind.rawValue, title: "The database refused the write",
                detail: violation.sentence ?? "A constraint of the database fails at the end of the transaction.",
                retry: false, constraint: violation.name)
        // From here on nobody has kept the push, and an operator can mend what is wrong; so the client must not drop it.
        case .tooLarge:
            Problem(
                status: 413, code: "record-too-large", title: "The record is too large", detail: message, retry: true)
        case .unreadable:
            Problem(
                status: 500, code: "unreadable-column", title: "A column cannot be read", detail: message,
                retry: true)
        case .denied, .other:
            Problem(
                status: 500, code: "database-error", title: "The database could not do what was asked",
                detail: "Nothing was written; the gateway's log says more.", retry: true)
        }
    }
}

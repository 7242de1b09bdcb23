package import MergeCore
package import RecordStore

extension StoreError {
    /// The problem that a client is told of.
    ///
    /// Details of the database stay in the log.
    package var problem: Problem {
        switch kind {
        case .unavailable, .disconnected:
            Problem(.databaseUnavailable, detail: "Nothing was written; try again later.", retry: true, retryAfter: 5)
        case .unwritable:
            Problem(
                .cannotWrite, detail: "Its disk is full or it is read-only; nothing was written.", retry: true,
                retryAfter: 5)
        case .busy, .serialization, .locked, .fileLocked, .knownKey:
            Problem(
                .busy, detail: "The rows stay locked or no connection is free; nothing was written.", retry: true,
                retryAfter: 1)
        case .overloaded:
            Problem(
                .overloaded, detail: "The gateway has more to do than it can; nothing was written.", retry: true,
                retryAfter: 1)
        case .takenEffect:
            Problem(
                .takenEffect, detail: "The undo or the resend has taken effect before; nothing was written.",
                retry: false)
        case .unknownOutcome:
            Problem(.unknownOutcome, detail: "The connection to the database broke during COMMIT.", retry: true)
        case .schemaChanged:
            Problem(
                .schemaChanged,
                detail: "A table or column is not what it was when the rules were read; nothing was written.",
                retry: true, retryAfter: 5)
        case .constraint(let violation): Self.problem(violation)
        // From here on nobody has kept the push, and an operator can mend what is wrong; so the client must not drop it.
        case .tooLarge:
            Problem(.recordTooLarge, detail: message, retry: true)
        case .unreadable:
            Problem(.unreadableColumn, detail: message, retry: true)
        case .denied, .other:
            Problem(.databaseError, detail: "Nothing was written; the gateway's log says more.", retry: true)
        }
    }

    private static func problem(_ violation: ConstraintViolation) -> Problem {
        var problem = Problem(
            violation.kind.problem,
            detail: violation.sentence ?? "A constraint of the database fails at the end of the transaction.",
            retry: false, constraint: violation.name)
        problem.cause = violation.words
        return problem
    }
}

extension ConstraintViolation.Kind {
    /// The code by which a client is told of a violation.
    var problem: ProblemCode {
        switch self {
        case .unique: .unique
        case .foreignKey: .foreignKey
        case .referenced: .referenced
        case .check: .check
        case .notNull: .notNull
        case .trigger: .trigger
        case .value: .value
        case .exhausted: .keysExhausted
        }
    }
}

package import MergeCore
package import RecordStore

extension StoreError {
    /// The problem for the client; details of the database stay in the log.
    package var problem: Problem {
        switch kind {
        case .unavailable, .disconnected:
            Problem(
                .databaseUnavailable, detail: "Nothing was written. Try again later.",
                retry: .later(.connection, after: 5))
        case .unwritable:
            Problem(
                .cannotWrite, detail: "A full disk, a read-only database or a missing journal. Nothing was written.",
                retry: .later(.unwritable, after: 5))
        case .busy, .serialization, .locked, .fileLocked, .knownKey:
            Problem(
                .busy, detail: "The rows stay locked, or no connection is free. Nothing was written.",
                retry: .later(.lock, after: 1))
        case .overloaded:
            Problem(
                .overloaded, detail: "The gateway is overloaded. Nothing was written.",
                retry: .later(.overload, after: 1))
        case .takenEffect:
            Problem(
                .takenEffect, detail: "The undo or the resend was applied before. Nothing was written.",
                retry: .never)
        case .unknownOutcome:
            Problem(
                .unknownOutcome, detail: "The connection to the database broke during COMMIT.",
                retry: .later(.unknownOutcome))
        case .schemaChanged:
            Problem(
                .resourceUnavailable,
                detail: "The rules do not fit a table of the database for now. Nothing was written.",
                retry: .later(.outOfService, after: 5))
        case .constraint(let violation): Self.problem(violation)
        case .denied:
            Problem(
                .databaseDenied,
                detail: "The database user lacks a right, or the table is a view that cannot be written this way. "
                    + "The gateway's log names it. Nothing was written.", retry: .never)
        case .tooLarge: Problem(.recordTooLarge, detail: message, retry: .never)
        case .unreadable: Problem(.unreadableColumn, detail: message, retry: .never)
        case .other:
            Problem(
                .databaseError, detail: "Nothing was written. The gateway's log contains the reason.",
                retry: .later(.unexpected))
        }
    }

    /// The problem of a push that is refused finally; nil if the push may succeed later.
    ///
    /// It is also nil for unexpected errors and for constraints, which name their row.
    var refusal: Problem? {
        switch kind {
        case .denied, .tooLarge, .unreadable: problem
        default: nil
        }
    }

    var isConstraint: Bool {
        if case .constraint = kind { true } else { false }
    }

    func refusal(of path: WirePath) -> Problem? {
        var problem = refusal
        problem?.path = path
        problem?.cause = description
        return problem
    }

    private static func problem(_ violation: ConstraintViolation) -> Problem {
        var problem = Problem(
            violation.kind.problem,
            detail: violation.sentence ?? "A constraint of the database fails at the end of the transaction.",
            retry: .never, constraint: violation.name)
        problem.cause = violation.words
        return problem
    }
}

extension ConstraintViolation.Kind {
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

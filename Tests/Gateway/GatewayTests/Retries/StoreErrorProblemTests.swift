import MergeCore
import MergeService
import MergeWire
import RecordStore
import Testing

/// The problem of each error of a database: whether a client sends the push again, and the status.
@Suite struct StoreErrorProblemTests {
    private struct Expected: Equatable {
        var code: ProblemCode
        var status: Int
        var retry: Retry
    }

    private static let kinds: [StoreError.Kind] = [
        .unavailable, .unwritable, .busy, .overloaded, .serialization, .locked, .fileLocked, .disconnected,
        .unknownOutcome, .constraint(ConstraintViolation(.unique)), .constraint(ConstraintViolation(.foreignKey)),
        .constraint(ConstraintViolation(.referenced)), .constraint(ConstraintViolation(.check)),
        .constraint(ConstraintViolation(.notNull)), .constraint(ConstraintViolation(.trigger)),
        .constraint(ConstraintViolation(.value)), .constraint(ConstraintViolation(.exhausted)), .schemaChanged, .denied,
        .unreadable, .tooLarge, .knownKey, .takenEffect, .other,
    ]

    /// A new kind of error does not compile here until it has a row.
    private static func expected(_ kind: StoreError.Kind) -> Expected {
        switch kind {
        case .unavailable, .disconnected:
            Expected(code: .databaseUnavailable, status: 503, retry: .later(.connection, after: 5))
        case .unwritable: Expected(code: .cannotWrite, status: 503, retry: .later(.unwritable, after: 5))
        case .busy, .serialization, .locked, .fileLocked, .knownKey:
            Expected(code: .busy, status: 503, retry: .later(.lock, after: 1))
        case .overloaded: Expected(code: .overloaded, status: 503, retry: .later(.overload, after: 1))
        case .unknownOutcome: Expected(code: .unknownOutcome, status: 504, retry: .later(.unknownOutcome))
        case .schemaChanged: Expected(code: .resourceUnavailable, status: 503, retry: .later(.outOfService, after: 5))
        case .constraint(let violation): Expected(code: code(violation.kind), status: 422, retry: .never)
        case .denied: Expected(code: .databaseDenied, status: 422, retry: .never)
        case .unreadable: Expected(code: .unreadableColumn, status: 422, retry: .never)
        case .tooLarge: Expected(code: .recordTooLarge, status: 422, retry: .never)
        case .takenEffect: Expected(code: .takenEffect, status: 409, retry: .never)
        case .other: Expected(code: .databaseError, status: 500, retry: .later(.unexpected))
        }
    }

    private static func code(_ kind: ConstraintViolation.Kind) -> ProblemCode {
        switch kind {
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

    @Test("Each error of a database has its code, its status and its retry", arguments: kinds)
    func everyKind(_ kind: StoreError.Kind) throws {
        let problem = StoreError(kind, "something happened").problem
        let found = Expected(
            code: problem.code, status: ProblemHead(problem).status, retry: try #require(problem.retry))
        #expect(found == Self.expected(kind))
    }

    @Test("A final error has a status below 500, and only an unexpected one has 500", arguments: kinds)
    func finalErrorsAreBelow500(_ kind: StoreError.Kind) {
        let problem = StoreError(kind, "something happened").problem
        let status = ProblemHead(problem).status
        switch problem.retry {
        case .never: #expect((400..<500).contains(status))
        case .later(.unexpected, _): #expect(status == 500)
        case .later: #expect([503, 504].contains(status))
        case nil: Issue.record("an error of a database says nothing of a retry")
        }
    }
}

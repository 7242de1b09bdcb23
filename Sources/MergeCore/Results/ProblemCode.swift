/// The kinds of problems, each with its code for programs.
package enum ProblemCode: String, Sendable, Hashable, CaseIterable {
    // MARK: The request

    /// The address, a header or the body is invalid.
    case invalid
    case notJSON = "not-json"
    case duplicateMember = "duplicate-member"
    case tooDeep = "too-deep"
    case tooLarge = "too-large"
    case tooMany = "too-many"
    case notGzip = "not-gzip"
    case mediaType = "media-type"
    case contentEncoding = "content-encoding"
    case requestTimeout = "request-timeout"
    case unknownQuery = "unknown-query"
    case duplicateQuery = "duplicate-query"
    case notUTF8 = "not-utf8"
    case malformedRequest = "malformed-request"
    case transferEncoding = "transfer-encoding"
    case methodNotAllowed = "method-not-allowed"
    case noSuchAddress = "no-such-address"
    /// The HTTP server cannot parse the request.
    case http
    case noToken = "no-token"
    /// The token belongs to another user than the request names.
    case otherWho = "other-who"
    case noRight = "no-right"
    case upgradeRequired = "upgrade-required"
    case overRate = "over-rate"
    /// The Host header does not name this gateway, which requires no tokens.
    case strangeHost = "strange-host"
    /// A web page of another origin sent the request.
    case strangeOrigin = "strange-origin"
    /// The rule files of a request have errors.
    case invalidRules = "invalid-rules"
    /// The console may not write.
    case consoleReadOnly = "console-read-only"

    // MARK: The edits

    case unknownResource = "unknown-resource"
    case unknownSection = "unknown-section"
    case unknownGroup = "unknown-group"
    case unknownField = "unknown-field"
    case unknownMember = "unknown-member"
    case nameTooLong = "name-too-long"
    case incompleteGroup = "incomplete-group"
    case readOnly = "read-only"
    case invalidValue = "invalid-value"
    case malformedID = "malformed-id"
    case missingID = "missing-id"
    case unknownTemporary = "unknown-temporary"
    case temporaryID = "temporary-id"
    /// A client chose a key that the database numbers.
    case generatedKey = "generated-key"
    case noPreview = "no-preview"
    case rulesChanged = "rules-changed"
    /// The push was built for a history that has ended.
    case historyChanged = "history-changed"
    /// The push was first sent at a time whose keys no longer exist.
    case keyExpired = "key-expired"

    // MARK: Merging

    /// A conflict met the policy `reject`.
    case rejected
    /// The edit was valid, but another edit of its push was not.
    case rolledBack = "rolled-back"
    case dependsOnRefused = "depends-on-refused"
    case ambiguousIdentity = "ambiguous-identity"
    case outsideWhere = "outside-where"
    /// The merged row would not be one of the client's rows.
    case outsideRows = "outside-rows"

    // MARK: Constraints of the database

    case unique
    /// The row refers to a row that does not exist.
    case foreignKey = "foreign-key"
    /// Other rows refer to the row.
    case referenced
    case check
    case notNull = "not-null"
    case trigger
    case value
    /// No number is left for the key of a new row.
    case keysExhausted = "keys-exhausted"

    // MARK: Keys and the journal

    case keyReused = "key-reused"
    case inProgress = "in-progress"
    case takenEffect = "taken-effect"
    case overJournal = "over-journal"
    case noJournal = "no-journal"
    /// The journal has no table of devices.
    case noClients = "no-clients"
    /// The gateway has no journal, so it has no changes to report.
    case noFeed = "no-feed"
    /// The feed does not reach back that far.
    case resync
    /// An earlier push of the same request may succeed later, and this push may depend on it.
    case notRun = "not-run"
    case noSuchEntry = "no-such-entry"
    case noSuchRecord = "no-such-record"
    case nothingToUndo = "nothing-to-undo"
    case notUndoable = "not-undoable"
    /// The journal keeps no values of private groups.
    case `private`
    case nothingToReplay = "nothing-to-replay"
    case alreadyReplayed = "already-replayed"
    case notReplayable = "not-replayable"

    // MARK: The gateway and its database

    case notReady = "not-ready"
    case maintenance
    case databaseUnavailable = "database-unavailable"
    case cannotWrite = "cannot-write"
    case busy
    case overloaded
    case unknownOutcome = "unknown-outcome"
    /// The rules of a resource do not fit the schema for now.
    case resourceUnavailable = "resource-unavailable"
    case recordTooLarge = "record-too-large"
    case unreadableColumn = "unreadable-column"
    case unreadableRecord = "unreadable-record"
    case databaseError = "database-error"
    /// The database user lacks a right, or the table is a view that cannot be written.
    case databaseDenied = "database-denied"
    /// The push met an unexpected error three times.
    case unexpected = "unexpected-error"
    case `internal`
}

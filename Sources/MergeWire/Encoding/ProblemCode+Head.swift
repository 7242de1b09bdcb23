import MergeCore

extension ProblemCode {
    /// The usual HTTP status of the code.
    var status: Int {
        switch self {
        case .invalid, .notJSON, .duplicateMember, .tooDeep, .notGzip, .unknownQuery, .duplicateQuery, .http,
            .unknownResource, .unknownSection, .unknownGroup, .unknownField, .unknownMember, .incompleteGroup,
            .readOnly, .invalidValue, .malformedID, .missingID, .unknownTemporary, .temporaryID, .notUTF8,
            .malformedRequest, .nameTooLong, .generatedKey, .invalidRules:
            400
        case .noToken, .otherWho: 401
        case .noRight, .outsideRows, .strangeHost, .strangeOrigin, .consoleReadOnly: 403
        case .noSuchAddress, .noSuchEntry, .noSuchRecord, .noFeed: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .rejected, .rulesChanged, .historyChanged, .keyExpired, .inProgress, .takenEffect, .alreadyReplayed: 409
        case .resync: 410
        case .tooLarge, .tooMany: 413
        case .mediaType, .contentEncoding: 415
        case .noPreview, .rolledBack, .dependsOnRefused, .ambiguousIdentity, .outsideWhere, .unique,
            .foreignKey, .referenced, .check, .notNull, .trigger, .value, .keysExhausted, .keyReused, .nothingToUndo,
            .notUndoable,
            .private, .nothingToReplay, .notReplayable, .unreadableColumn, .unreadableRecord, .recordTooLarge,
            .databaseDenied, .unexpected:
            422
        case .upgradeRequired: 426
        case .overJournal, .overRate: 429
        case .internal, .databaseError: 500
        case .noJournal, .noClients, .transferEncoding: 501
        case .notReady, .maintenance, .databaseUnavailable, .cannotWrite, .busy, .overloaded, .resourceUnavailable,
            .notRun:
            503
        case .unknownOutcome: 504
        }
    }

    /// The usual title of the code.
    var title: String {
        switch self {
        case .invalid: "The request is not valid"
        case .notJSON: "The body is not JSON"
        case .duplicateMember: "An object has a member twice"
        case .tooDeep: "The body is nested too deep"
        case .tooLarge: "The body is too large"
        case .tooMany: "The push is too large"
        case .notGzip: "The body is not gzip"
        case .mediaType: "Unsupported media type"
        case .contentEncoding: "Unsupported content encoding"
        case .requestTimeout: "The body came too slowly"
        case .unknownQuery: "Unknown query member"
        case .duplicateQuery: "A query member appears twice"
        case .notUTF8: "A header is not UTF-8"
        case .malformedRequest: "The request is malformed"
        case .transferEncoding: "Unknown transfer coding"
        case .methodNotAllowed: "Another method is needed"
        case .noSuchAddress, .noSuchEntry, .noSuchRecord: "Not found"
        case .http: "Bad Request"
        case .noToken: "A token is needed"
        case .otherWho: "The token belongs to another user"
        case .noRight: "The token lacks a right"
        case .upgradeRequired: "A newer version is needed"
        case .overRate: "Too much in a second"
        case .strangeHost, .strangeOrigin: "Not for web pages of strangers"
        case .invalidRules: "The rules have errors"
        case .consoleReadOnly: "The console only reads"
        case .unknownResource: "Unknown resource"
        case .unknownSection: "Unknown section"
        case .unknownGroup: "Unknown group"
        case .unknownField: "Unknown field"
        case .unknownMember: "Unknown member"
        case .nameTooLong: "A name is too long"
        case .incompleteGroup: "A group is not whole"
        case .readOnly: "The resource is read-only"
        case .invalidValue: "A value does not fit its column"
        case .malformedID: "The id is malformed"
        case .missingID: "The id is missing"
        case .unknownTemporary: "Unknown temporary id"
        case .temporaryID: "Temporary id created twice"
        case .generatedKey: "The database numbers these rows"
        case .noPreview: "There is no preview of this resource"
        case .rulesChanged: "The rules have changed"
        case .historyChanged: "The history has changed"
        case .keyExpired: "The key has expired"
        case .rejected: "Rejected by the rules"
        case .rolledBack: "Taken back with the push"
        case .dependsOnRefused: "A row that this edit refers to was not created"
        case .ambiguousIdentity: "Several rows have these values"
        case .outsideWhere: "The row would be hidden from clients"
        case .outsideRows: "The row would leave the client's rows"
        case .unique, .foreignKey, .referenced, .check, .notNull, .trigger, .value, .keysExhausted:
            "The database refused the write"
        case .keyReused: "Another push has this key"
        case .inProgress: "The push is still running"
        case .takenEffect: "It was done before"
        case .overJournal: "The client's share of the journal is used up"
        case .noJournal: "No journal is kept"
        case .noClients: "No devices are stored"
        case .noFeed: "No changes are kept"
        case .resync: "Begin with a snapshot"
        case .notRun: "The push was not run"
        case .nothingToUndo: "There is nothing to undo"
        case .notUndoable: "The entry cannot be undone"
        case .private: "The journal does not have the values"
        case .nothingToReplay: "There is nothing to replay"
        case .alreadyReplayed: "The push is settled"
        case .notReplayable: "The push cannot be sent again"
        case .notReady: "The gateway is not ready"
        case .maintenance: "The gateway is under maintenance"
        case .databaseUnavailable: "The database cannot be reached"
        case .cannotWrite: "The database cannot be written"
        case .busy: "The database is busy"
        case .overloaded: "Too many requests are waiting"
        case .unknownOutcome: "The outcome is unknown"
        case .resourceUnavailable: "The resource is out of service"
        case .recordTooLarge: "The record is too large"
        case .unreadableColumn: "A column cannot be read"
        case .unreadableRecord: "The record cannot be read"
        case .databaseError: "The database reported an error"
        case .databaseDenied: "The database does not allow this"
        case .unexpected: "The push failed three times"
        case .internal: "The gateway met an unexpected error"
        }
    }
}

extension Problem {
    /// True if the request itself is not valid: its usual status is 400.
    package var isInvalid: Bool { code.status == 400 }
}

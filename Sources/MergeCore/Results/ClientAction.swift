/// The action of a client whose push has a problem.
package enum ClientAction: String, Sendable, Hashable, CaseIterable {
    /// Keeps the edits as refused, with the problem.
    case refuse
    /// Sends the same bytes with the same key again, after a wait.
    case sendAgain = "send-again"
    /// Reads the rules, and builds the push again with a new key.
    case buildAgain = "build-again"
    /// Takes a snapshot, and builds the push again with a new key.
    case readAgain = "read-again"
    /// Sends the push without its time if an earlier request had none. Otherwise keeps the edits as refused, because
    /// their outcome is unknown.
    case checkKey = "check-key"
    /// Keeps the push as it is, because only the request is faulty.
    case wait
    /// Asks for a token.
    case signIn = "sign-in"
    /// Asks the user for a newer program.
    case update
}

extension ProblemCode {
    /// The action of a client; nil if no push has the problem.
    package var clientAction: ClientAction? {
        switch self {
        case .invalid, .notJSON, .duplicateMember, .tooDeep, .tooLarge, .tooMany, .noRight, .unknownResource,
            .unknownSection, .unknownGroup, .unknownField, .unknownMember, .nameTooLong, .incompleteGroup, .readOnly,
            .invalidValue, .malformedID, .missingID, .unknownTemporary, .temporaryID, .generatedKey, .keyExpired,
            .rejected, .rolledBack, .dependsOnRefused, .ambiguousIdentity, .outsideWhere, .outsideRows, .unique,
            .foreignKey, .referenced, .check, .notNull, .trigger, .value, .keysExhausted, .recordTooLarge,
            .unreadableColumn, .unreadableRecord, .databaseDenied, .unexpected:
            .refuse
        case .requestTimeout, .overRate, .overJournal, .inProgress, .notRun, .notReady, .maintenance,
            .databaseUnavailable, .cannotWrite, .busy, .overloaded, .unknownOutcome, .resourceUnavailable,
            .databaseError, .internal:
            .sendAgain
        case .rulesChanged: .buildAgain
        case .historyChanged: .readAgain
        case .keyReused: .checkKey
        case .unknownQuery, .duplicateQuery, .notUTF8, .malformedRequest, .http, .strangeHost, .strangeOrigin: .wait
        case .noToken, .otherWho: .signIn
        case .upgradeRequired: .update
        case .notGzip, .mediaType, .contentEncoding, .transferEncoding, .methodNotAllowed, .noSuchAddress, .noPreview,
            .noJournal, .noClients, .noFeed, .resync, .takenEffect, .noSuchEntry, .noSuchRecord, .nothingToUndo,
            .notUndoable,
            .private, .nothingToReplay, .alreadyReplayed, .notReplayable, .invalidRules, .consoleReadOnly:
            nil
        }
    }
}

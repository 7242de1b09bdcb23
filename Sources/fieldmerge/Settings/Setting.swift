import FoundationEssentials

/// The names of all settings of all commands, on the command line and in a settings file.
///
/// Several commands may share a file and an environment, so each command accepts all settings.
enum Setting: String, CaseIterable {
    case database
    case databasePasswordFile = "database-password-file"
    /// Not on the command line, which every user of the machine can read.
    case databasePassword = "database-password"
    case rules
    case listen
    case tlsCertificate = "tls-certificate"
    case tlsKey = "tls-key"
    case tokens
    case jwtKeys = "jwt-keys"
    case jwtIssuer = "jwt-issuer"
    case jwtAudience = "jwt-audience"
    case jwtSecretFile = "jwt-secret-file"
    case jwtRoles = "jwt-roles"
    case tokenKey = "token-key"
    case tokenLifetime = "token-lifetime"
    case minClient = "min-client"
    case upgradeMessage = "upgrade-message"
    case upgradeLink = "upgrade-link"
    case rateRequests = "rate-requests"
    case rateEdits = "rate-edits"
    case journal
    case state
    case keepKeys = "keep-keys"
    case keepJournal = "keep-journal"
    case keepChanges = "keep-changes"
    case changes
    case keepForeign = "keep-foreign"
    case scanRowsPerSecond = "scan-rows-per-second"
    case allowOrigin = "allow-origin"
    case serveApp = "serve-app"
    case console
    case trustedProxy = "trusted-proxy"
    case maintenance
    case schemaInterval = "schema-interval"
    case logLevel = "log-level"
    case logFormat = "log-format"
    /// The settings file, which cannot name itself.
    case config
    case connections
    case maxClients = "max-clients"
    case maxWaiting = "max-waiting"
    case maxBody = "max-body"
    case maxDepth = "max-depth"
    case maxEdits = "max-edits"
    case maxItems = "max-items"
    case rowsPerRecord = "rows-per-record"
    case pageSize = "page-size"
    case coalesce
    case lanes
    case requestTime = "request-time"
    case headTime = "head-time"
    case bodyTime = "body-time"
    case answerTime = "answer-time"
    case maxAnswer = "max-answer"
    case maxMemory = "max-memory"
    case maxJournalDay = "max-journal-day"

    static let prefix = "FIELDMERGE_"

    /// Settings that may have several values.
    static let lists: [Setting] = [.allowOrigin, .minClient, .trustedProxy]

    /// Settings that a settings file may contain.
    static let ofFile = allCases.filter { $0 != .config }

    /// The environment variable without its prefix.
    var word: String { rawValue.uppercased().replacing("-", with: "_") }

    var variable: String { Self.prefix + word }
}

package import MergeService
package import MergeWire

/// The settings of an operator, but for the database and the rules.
package struct GatewayConfiguration: Sendable {
    /// The name or address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on, 0 to 65535; 0 takes one that is free.
    package var port = 8_080
    /// Bounds on what the body of a request may hold.
    package var wire = WireLimits()
    /// Bounds on how pushes and reads run.
    package var merge = MergeLimits()
    /// Seconds that a request may take, its body included.
    package var requestSeconds = 30
    /// Seconds that the head of a request may take from its first byte on.
    package var headSeconds = 30
    /// Seconds that the body of a request may take from its head on.
    package var bodySeconds = 30
    /// Seconds in which a client has to take something of an answer that it has not all of.
    package var answerSeconds = 30
    /// Client connections open at once; further ones are refused.
    package var clients = 10_000
    /// Seconds after which a connection that sends nothing is closed.
    package var idleSeconds: Int64 = 120
    /// Bytes of bodies and answers that all requests hold at once.
    package var heldBytes = 128 << 20
    /// Bytes that one token may leave in the journal in a day, as they are kept.
    package var journalBytesPerDay = 1 << 30
    /// The lines about requests go to the log as fields, for machines.
    package var logsFields = false
    /// The time between two looks at the feed of changes.
    package var feedInterval = Duration.milliseconds(100)
    /// Rows that are read in a second to find what programs wrote that bypass the gateway; nil where nobody looks.
    package var scanRowsPerSecond: Int?
    /// The time from the beginning of one look at all rows to that of the next, at least.
    package var scanInterval = Duration.milliseconds(500)
    /// The time that a scan waits before it reports the rows of a table that has lost more than half of them.
    package var emptiedPause = Duration.seconds(60)
    /// Origins of web pages that may use the gateway from a browser.
    package var allowedOrigins: [WebOrigin] = []
    /// The folder that is served under `/app/`; nil where there is none.
    package var app: AppFolder?
    /// Programs that have to be of some version at least.
    package var minimumClients: MinimumClients?
    /// Requests that one client may send in a second; nil for no bound.
    package var requestsPerSecond: Int?
    /// Edits that one client may send in a second; nil for no bound.
    package var editsPerSecond: Int?
    /// Gives access tokens to who has a refresh token; nil where nobody needs a token.
    package var accessTokens: AccessTokens?
    /// The certificate of the gateway; nil for plain HTTP.
    package var certificate: ServerCertificate?

    /// Makes the settings of an operator who gives none.
    package init() {}

    /// Addresses that only programs on the same machine reach.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}

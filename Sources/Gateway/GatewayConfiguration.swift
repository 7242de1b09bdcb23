package import MergeService
package import MergeWire

/// The operator's settings, without those of the database and the rules.
package struct GatewayConfiguration: Sendable {
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port.
    package var port = 8_080
    /// Limits for the body of a request.
    package var wire = WireLimits()
    /// Limits for pushes and reads.
    package var merge = MergeLimits()
    /// The maximum seconds of a request, including its body.
    package var requestSeconds = 30
    /// The maximum seconds for the head of a request, from its first byte.
    package var headSeconds = 30
    /// The maximum seconds for the body of a request, after its head.
    package var bodySeconds = 30
    /// The maximum seconds in which a client reads nothing of its answer.
    package var answerSeconds = 30
    /// The maximum open client connections.
    ///
    /// Further connections are refused.
    package var clients = 10_000
    /// The seconds after which an idle connection is closed.
    package var idleSeconds: Int64 = 120
    /// The maximum bytes of all bodies and answers in memory.
    package var heldBytes = 128 << 20
    /// The maximum bytes that one token may add to the journal in a day, as stored.
    package var journalBytesPerDay = 1 << 30
    /// Logs requests as fields, for machines.
    package var logsFields = false
    /// The time between two checks of the change feed.
    package var feedInterval = Duration.milliseconds(100)
    /// The rows that the scan for foreign changes reads in a second; nil disables the scan.
    package var scanRowsPerSecond: Int?
    /// The minimum time between the starts of two scan cycles.
    package var scanInterval = Duration.milliseconds(500)
    /// The delay before a scan reports deleted rows of a table that has lost more than half of its rows.
    package var emptiedPause = Duration.seconds(60)
    /// The origins of web pages that may use the gateway.
    package var allowedOrigins: [WebOrigin] = []
    /// The folder that is served under `/app/`, or nil.
    package var app: AppFolder?
    /// The minimum versions of client programs.
    package var minimumClients: MinimumClients?
    /// The maximum requests of one client in a second; nil for no limit.
    package var requestsPerSecond: Int?
    /// The maximum edits of one client in a second; nil for no limit.
    package var editsPerSecond: Int?
    /// Issues access tokens for refresh tokens; nil if the gateway needs no tokens.
    package var accessTokens: AccessTokens?
    /// The certificate; nil for plain HTTP.
    package var certificate: ServerCertificate?

    /// Makes the default settings.
    package init() {}

    /// True if only programs on the same machine can reach the gateway.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}

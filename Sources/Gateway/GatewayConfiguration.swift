package import MergeService
package import MergeWire
package import RecordStore

/// The operator's settings, without those of the database and the rules.
package struct GatewayConfiguration: Sendable {
    /// The name or address to listen on.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any free port.
    package var port = 8_080
    /// Limits for the body of a request.
    package var wire = WireLimits()
    /// Limits for pushes and reads.
    package var merge = MergeLimits()
    /// The maximum seconds of a request after its body has arrived.
    package var requestSeconds = 30
    /// The maximum seconds for the head of a request, from its first byte.
    package var headSeconds = 30
    /// The seconds in which the body of a request must end or grow by 1 kB a second.
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
    /// The maximum bytes that a token may add to the journal in a day, as stored.
    package var journalBytesPerDay = 1 << 30
    /// Logs requests as fields, for machines.
    package var logsFields = false
    /// The time between two checks of the change feed.
    package var feedInterval = Duration.milliseconds(100)
    /// The lines that the journal keeps of a client's invalid pushes in a day.
    package var invalidPushesPerDay = 0
    /// The rows that the scan reads in a second; nil disables it.
    package var scanRowsPerSecond: Int?
    /// The use of the server's binary log in addition to the scan.
    package var foreignLog = RowLogUse.never
    /// True if the journal keeps the values of changes from the binary log.
    package var keepsForeign = false
    /// The value of `--changes`.
    package var changesSource: String {
        guard scanRowsPerSecond != nil else { return "off" }
        return switch foreignLog {
        case .never: "scan"
        case .ifPossible: "auto"
        case .expected: "binlog"
        }
    }
    /// The time between the starts of two scan cycles while the binary log is followed.
    package var scanNetInterval = Duration.seconds(3_600)
    /// The minimum time between the starts of two scan cycles.
    package var scanInterval = Duration.milliseconds(500)
    /// The delay before a scan reports that a table has lost most of its rows.
    package var emptiedPause = Duration.seconds(60)
    /// The proxies that report the addresses of their clients.
    package var proxies = TrustedProxies.none
    /// The origins of web pages that may use the gateway.
    package var allowedOrigins: [WebOrigin] = []
    /// The folder that is served under `/app/`, or nil.
    package var app: AppFolder?
    /// The operators' console under `/console/`.
    package var console = ConsoleMode.off
    /// The minimum versions of client programs.
    package var minimumClients: MinimumClients?
    /// The maximum requests of a client in a second; nil for no limit.
    package var requestsPerSecond: Int?
    /// The maximum edits of a client in a second; nil for no limit.
    package var editsPerSecond: Int?
    /// Issues access tokens for refresh tokens; nil without tokens.
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

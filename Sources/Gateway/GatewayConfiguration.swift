package import MergeService
package import MergeWire

/// The settings of an operator, but for the database and the rules.
package struct GatewayConfiguration: Sendable {
    package var host = "127.0.0.1"
    package var port = 8_080
    package var wire = WireLimits()
    package var merge = MergeLimits()
    /// Seconds that a request may take, its body included.
    package var requestSeconds = 30
    /// Client connections open at once.
    package var clients = 10_000
    /// Seconds after which a connection that sends nothing is closed.
    package var idleSeconds: Int64 = 120
    /// Bytes of bodies and answers that all requests hold at once.
    package var heldBytes = 128 << 20
    /// Bytes that one token may leave in the journal in a day, as they are kept.
    package var journalBytesPerDay = 1 << 30
    /// Origins of web pages that may use the gateway from a browser.
    package var allowedOrigins: [WebOrigin] = []

    package init() {}

    /// Addresses that only programs on the same machine reach.
    package var isLoopback: Bool {
        host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}

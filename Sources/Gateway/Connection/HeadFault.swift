import MergeCore
import NIOHTTP1

/// Faults of a head, which are reported before the body arrives.
enum HeadFault {
    static func problem(_ received: ReceivedHead) -> Problem? {
        let (head, headers) = (received.head, received.headers)
        let hosts = headers.count("host")
        if hosts > 1 || (hosts == 0 && head.version == .http1_1) {
            return malformed("A request has one header Host (RFC 9112 section 3.2); this one has \(hosts).")
        }
        guard isVisible(head.uri) else {
            return malformed("The address has bytes that are not ASCII; they are percent-encoded.")
        }
        if let coding = headers["transfer-encoding"], coding.trimmingSpaces.lowercased() != "chunked" {
            return Problem(
                .transferEncoding,
                detail: "The only transfer coding is chunked. To compress a body, use Content-Encoding: gzip.")
        }
        return nil
    }

    /// Not HTTP, or too long.
    static let unreadable = malformed("This is not a request of HTTP/1.1, or its head is longer than 80 KiB.")

    static let slow = Problem(
        .requestTimeout, detail: "The head of the request did not arrive in time.")

    private static func isVisible(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
            ?? text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    }

    private static func malformed(_ detail: String) -> Problem {
        Problem(.malformedRequest, detail: detail)
    }
}

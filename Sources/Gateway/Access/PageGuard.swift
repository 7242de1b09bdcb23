import MergeCore

/// Protects a gateway without tokens from foreign web pages.
///
/// A browser sends requests of any page, also to loopback addresses. The guard accepts programs, which send neither
/// `Origin` nor `Sec-Fetch-Site`, and pages of allowed origins. It also checks `Host`, because a page can point its
/// server's name at this machine.
struct PageGuard: Sendable {
    private let origins: [String]
    /// The host that the gateway listens on.
    private let host: String

    init(origins: [WebOrigin], host: String) {
        self.origins = origins.map(\.description)
        self.host = host.lowercased()
    }

    /// - Throws: a 403 `Problem` if a foreign page may have sent the request.
    func check(_ headers: RequestHeaders) throws(Problem) {
        let authority = headers["host"].map { $0.trimmingSpaces.lowercased() }
        if let authority, !isOwn(authority) {
            throw Self.refusal(
                .strangeHost,
                detail: "The header Host does not name this machine. A gateway without tokens accepts no other "
                    + "name.")
        }
        let origin = headers["origin"]?.trimmingSpaces
        if let origin, origins.contains(origin) { return }
        if let origin, authority.map({ "http://" + $0 == origin.lowercased() }) != true {
            throw Self.refusal(
                .strangeOrigin,
                detail: "The header Origin names a web page. A gateway without tokens accepts no requests of web pages."
            )
        }
        if let site = headers["sec-fetch-site"]?.trimmingSpaces, !["same-origin", "none"].contains(site) {
            throw Self.refusal(
                .strangeOrigin,
                detail:
                    "The header Sec-Fetch-Site names a web page. A gateway without tokens accepts no requests of web pages."
            )
        }
    }

    /// Returns true for loopback addresses and the gateway's host, with any port.
    private func isOwn(_ authority: String) -> Bool {
        let bytes = authority.utf8
        let name: Substring
        if bytes.first == UInt8(ascii: "[") {
            name =
                authority[..<(bytes.firstIndex(of: UInt8(ascii: "]")).map { bytes.index(after: $0) } ?? bytes.endIndex)]
        } else {
            name = authority[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex)]
        }
        let rest = authority[name.endIndex...]
        guard rest.isEmpty || (rest.utf8.first == UInt8(ascii: ":") && rest.dropFirst().utf8.allSatisfy(Self.isDigit))
        else { return false }
        if name == "localhost" || name == "[::1]" || name == host { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    private static func refusal(_ code: ProblemCode, detail: String) -> Problem {
        Problem(
            code, detail: detail + " Use tokens, or name the page's origin with --allow-origin.", retry: .never)
    }
}

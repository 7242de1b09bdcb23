import FoundationEssentials

/// The address of a key set.
struct KeyAddress: Sendable, CustomStringConvertible {
    let isEncrypted: Bool
    let host: String
    let port: Int
    /// Path and query.
    let target: String

    /// Reads an address.
    ///
    /// - Throws: `KeySetError` for other texts, and for plain HTTP to another machine.
    init(_ text: String) throws(KeySetError) {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            var host = url.host(percentEncoded: true), !host.isEmpty, url.user == nil
        else { throw KeySetError("it is not an address such as https://id.example.com/keys") }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        isEncrypted = scheme == "https"
        self.host = host.lowercased()
        port = url.port ?? (isEncrypted ? 443 : 80)
        let path = url.path(percentEncoded: true)
        target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?" + $0 } ?? "")
        guard isEncrypted || Self.isLoopback(self.host) else {
            throw KeySetError(
                "plain http is for loopback addresses alone; keys that come in the clear can be exchanged")
        }
    }

    /// True for an IP address, which TLS does not send as a server name.
    var isNumeric: Bool { host.contains(":") || host.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || $0 == 46 } }

    /// The host and port, as the request sends them.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isEncrypted ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// The address without its query.
    var description: String {
        (isEncrypted ? "https://" : "http://") + authority + (target.split(separator: "?").first ?? "")
    }

    private static func isLoopback(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

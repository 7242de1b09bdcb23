import MergeCore

/// The proxies whose `X-Forwarded-For` and PROXY protocol count.
package struct TrustedProxies: Sendable {
    private let addresses: Set<NetworkAddress>

    /// Trusts no proxy.
    package static let none = TrustedProxies(addresses: [])

    private init(addresses: Set<NetworkAddress>) {
        self.addresses = addresses
    }

    /// Trusts proxies with these addresses, or returns the first text that is no address.
    package static func reading(_ texts: [String]) -> Result<TrustedProxies, NoAddress> {
        var addresses: Set<NetworkAddress> = []
        for text in texts {
            guard let address = address(text) else { return .failure(NoAddress(text: text)) }
            addresses.insert(address)
        }
        return .success(TrustedProxies(addresses: addresses))
    }

    /// A text that is no IPv4 or IPv6 address.
    package struct NoAddress: Error {
        /// The text.
        package let text: String
    }

    /// Returns the address of a client: that of the connection, or the last address before the trusted proxies.
    ///
    /// Each proxy appends the address of its client, so only addresses that trusted proxies appended are certain. A
    /// balancer with the PROXY protocol appends nothing, so its clients must be trusted themselves to forward addresses.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection; nil if it has none.
    ///   - header: the header of the PROXY protocol that a trusted proxy sent; nil without one.
    ///   - forwarded: the values of `X-Forwarded-For`.
    func client(of peer: String?, header: ProxyHeader? = nil, forwarded: [String]) -> String? {
        guard let peer else { return nil }
        if let header, header.client == nil { return Self.plain(peer) }
        var client = Self.plain(header?.client ?? peer)
        guard isTrusted(client) else { return client }
        for hop in forwarded.flatMap({ $0.split(separator: ",") }).reversed() {
            let text = hop.trimmingWhitespace
            guard Self.address(text) != nil else { return client }
            client = Self.plain(text)
            if !isTrusted(text) { break }
        }
        return client
    }

    /// Returns true if an address is that of a trusted proxy.
    func isTrusted(_ text: String) -> Bool {
        !addresses.isEmpty && Self.address(text).map(addresses.contains) ?? false
    }

    private static func address(_ text: String) -> NetworkAddress? {
        NetworkAddress(version4: plain(text)) ?? NetworkAddress(version6: text)
    }

    /// The start of IPv4 addresses as a socket for IPv6 reports them.
    private static let mapped = "::ffff:"

    /// Returns `192.0.2.1` for `::ffff:192.0.2.1`, else the address itself.
    private static func plain(_ text: String) -> String {
        guard text.utf8.count > mapped.utf8.count, text.lowercased().hasPrefix(mapped) else { return text }
        let rest = String(text.dropFirst(mapped.count))
        return NetworkAddress(version4: rest) == nil ? text : rest
    }
}

extension Substring {
    fileprivate var trimmingWhitespace: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

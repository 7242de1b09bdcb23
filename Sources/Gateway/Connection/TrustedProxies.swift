import MergeCore

/// The proxies whose `X-Forwarded-For` counts.
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
    /// Each proxy appends the address of its own client, so only addresses that trusted proxies appended are certain.
    func client(of peer: String?, forwarded: [String]) -> String? {
        guard let peer, !addresses.isEmpty, isTrusted(peer) else { return peer }
        var client = peer
        for hop in forwarded.flatMap({ $0.split(separator: ",") }).reversed() {
            let text = hop.trimmingWhitespace
            guard Self.address(text) != nil else { return client }
            client = text
            if !isTrusted(text) { break }
        }
        return client
    }

    private func isTrusted(_ text: String) -> Bool { Self.address(text).map(addresses.contains) ?? false }

    private static func address(_ text: String) -> NetworkAddress? {
        NetworkAddress(version4: text) ?? NetworkAddress(version6: text)
    }
}

extension Substring {
    fileprivate var trimmingWhitespace: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

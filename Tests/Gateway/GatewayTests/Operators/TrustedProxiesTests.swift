import Testing

@testable import Gateway

/// The address of a client behind proxies.
@Suite struct TrustedProxiesTests {
    @Test("Only addresses that trusted proxies appended count")
    func client() throws {
        let proxies = try TrustedProxies.reading(["10.0.0.5", "fd00::5"]).get()
        let cases: [(peer: String?, forwarded: [String], client: String?)] = [
            ("203.0.113.9", [], "203.0.113.9"),
            // A client cannot forge an address unless it comes through a trusted proxy.
            ("203.0.113.9", ["192.0.2.1"], "203.0.113.9"),
            ("10.0.0.5", ["192.0.2.1"], "192.0.2.1"),
            ("10.0.0.5", ["192.0.2.66, 192.0.2.1"], "192.0.2.1"),
            ("10.0.0.5", ["192.0.2.66", "192.0.2.1"], "192.0.2.1"),
            ("10.0.0.5", ["192.0.2.1, FD00:0::5"], "192.0.2.1"),
            ("10.0.0.5", [], "10.0.0.5"),
            ("10.0.0.5", ["unknown"], "10.0.0.5"),
            ("10.0.0.5", ["192.0.2.1, line\nbreak"], "10.0.0.5"),
            (nil, ["192.0.2.1"], nil),
            // A socket for IPv6 reports IPv4 addresses in this form.
            ("::ffff:10.0.0.5", ["192.0.2.1"], "192.0.2.1"),
            ("::ffff:10.0.0.5", ["::FFFF:192.0.2.1"], "192.0.2.1"),
            ("::ffff:203.0.113.9", ["192.0.2.1"], "203.0.113.9"),
        ]
        for (peer, forwarded, client) in cases {
            #expect(proxies.client(of: peer, forwarded: forwarded) == client, "\(peer ?? "none") \(forwarded)")
        }
    }

    @Test("Without trusted proxies, the address of the connection counts")
    func none() {
        #expect(TrustedProxies.none.client(of: "10.0.0.5", forwarded: ["192.0.2.1"]) == "10.0.0.5")
    }

    @Test("After a header of the PROXY protocol, its client must be trusted to forward an address")
    func header() throws {
        let proxies = try TrustedProxies.reading(["10.0.0.5", "10.0.0.6"]).get()
        let cases: [(client: String?, forwarded: [String], result: String)] = [
            ("203.0.113.9", [], "203.0.113.9"),
            ("203.0.113.9", ["192.0.2.1"], "203.0.113.9"),
            ("10.0.0.6", ["192.0.2.1"], "192.0.2.1"),
            ("::ffff:203.0.113.9", [], "203.0.113.9"),
            (nil, ["192.0.2.1"], "10.0.0.5"),
        ]
        for (client, forwarded, result) in cases {
            let found = proxies.client(of: "10.0.0.5", header: ProxyHeader(client: client), forwarded: forwarded)
            #expect(found == result, "\(client ?? "none") \(forwarded)")
        }
    }

    @Test("A name is no address")
    func names() {
        guard case .failure(let error) = TrustedProxies.reading(["10.0.0.5", "proxy.local"]) else {
            Issue.record("a name was accepted")
            return
        }
        #expect(error.text == "proxy.local")
    }
}

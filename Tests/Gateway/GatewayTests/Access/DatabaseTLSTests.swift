import Foundation
import Testing
import TestSupport

/// Encrypted connections to the database accept only the intended server.
@Suite(.serialized, .tags(.mariadb), .needsMariaDB, .timeLimit(.minutes(3))) struct DatabaseTLSTests {
    private static let schema = "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(40) NOT NULL);"
    private static let rules = [
        "people.yaml": "resource: people\nsections:\n  person: {table: people, groups: {name: name}}\n"
    ]

    /// A server with a certificate, its address, and the expected error.
    private struct Case {
        /// The certificate's name.
        let certificate: String
        let host: String
        /// The query of the URL.
        ///
        /// `CA` is replaced by the file of the right authority, `EVIL` by that of another.
        let query: String
        /// The authority that the system trusts; nil for the right one.
        var trusted: String?
        /// nil if the connection succeeds.
        let fault: String?
    }

    private static let another = "its certificate is that of another host"
    private static let stranger = "unable to get local issuer certificate"

    private static let cases = [
        Case(certificate: "right", host: "127.0.0.1", query: "ca=CA", fault: nil),
        Case(certificate: "right", host: "127.0.0.1", query: "tls=required&ca=CA", fault: nil),
        Case(certificate: "right", host: "127.0.0.1", query: "tls=required", trusted: "CA", fault: nil),
        Case(certificate: "right", host: "localhost", query: "ca=CA&socket=SOCKET", fault: nil),
        Case(certificate: "right", host: "127.0.0.1", query: "ca=EVIL", fault: stranger),
        Case(certificate: "right", host: "127.0.0.1", query: "tls=required", fault: stranger),
        Case(certificate: "right", host: "127.0.0.1", query: "ca=/nowhere.pem", fault: "No such file or directory"),
        // Of the right authority, and for another host.
        Case(certificate: "other", host: "127.0.0.1", query: "ca=CA", fault: another),
        Case(certificate: "other", host: "127.0.0.1", query: "tls=required", trusted: "CA", fault: another),
        Case(certificate: "other", host: "localhost", query: "ca=CA&socket=SOCKET", fault: another),
        // A name is no address.
        Case(certificate: "named", host: "127.0.0.1", query: "ca=CA", fault: another),
        Case(certificate: "named", host: "localhost", query: "ca=CA&socket=SOCKET", fault: nil),
        // The host is right, but the authority is unknown.
        Case(certificate: "forged", host: "127.0.0.1", query: "ca=CA", fault: stranger),
        Case(certificate: "forged", host: "127.0.0.1", query: "tls=required", fault: stranger),
    ]

    /// Runs `check` against a database, which connects as `serve` does.
    private static func check(
        _ database: TestDatabase, _ port: Int, _ server: PrivateMariaDB, _ folder: TemporaryFolder, _ one: Case
    ) async throws -> (status: Int32, said: String) {
        let files = [("EVIL", "\(folder.path)/evil.pem"), ("CA", "\(folder.path)/good.pem"), ("SOCKET", server.socket)]
        func path(_ text: String) -> String { files.reduce(text) { $0.replacing($1.0, with: $1.1) } }
        let url = "mariadb://\(database.account)@\(one.host):\(port)/\(database.name)?" + path(one.query)
        let ran = try await Shell.capture(
            [GatewayProcess.program, "check", "--database", url, "--rules", folder.path, "--journal", "off"],
            environment: one.trusted.map { ["SSL_CERT_FILE": path($0)] } ?? [:])
        return (ran.status, ran.output + ran.errors)
    }

    @Test("The certificate and the host name are verified")
    func verification() async throws {
        let folder = try TemporaryFolder(files: Self.rules)
        let good = try await TestAuthority("good", in: folder.path)
        let evil = try await TestAuthority("evil", in: folder.path)
        try await good.certify("right", names: "DNS:localhost,IP:127.0.0.1")
        try await good.certify("other", names: "DNS:db.example.com,IP:192.0.2.1")
        try await good.certify("named", names: "DNS:localhost")
        try await evil.certify("forged", names: "DNS:localhost,IP:127.0.0.1")
        let used = (certificate: folder.path + "/used.pem", key: folder.path + "/used.key")
        @Sendable func use(_ name: String) async throws {
            try await Shell.run(["cp", "\(folder.path)/\(name).pem", used.certificate])
            try await Shell.run(["cp", "\(folder.path)/\(name).key", used.key])
        }
        try await use("right")
        let server = try await PrivateMariaDB(options: ["--ssl-cert=" + used.certificate, "--ssl-key=" + used.key])
        let database = try await TestDatabase(.mariadb, mariadb: Self.schema, sqlite: "", server: server)
        try await SocketRelay.with(socket: server.socket) { port in
            for one in Self.cases {
                try await use(one.certificate)
                try await server.run("FLUSH SSL")
                let (status, said) = try await Self.check(database, port, server, folder, one)
                let place = "\(one.certificate) at \(one.host) with \(one.query): \(said)"
                if let fault = one.fault {
                    #expect(status != 0 && said.contains("no TLS connection to the database server"), "\(place)")
                    #expect(said.contains(fault), "\(place)")
                } else {
                    #expect(status == 0, "\(place)")
                }
            }
        }
    }

    /// Nothing is sent without encryption.
    @Test("A server without a certificate is refused")
    func noCertificate() async throws {
        let folder = try TemporaryFolder(files: Self.rules)
        let server = try await PrivateMariaDB()
        let database = try await TestDatabase(.mariadb, mariadb: Self.schema, sqlite: "", server: server)
        try await SocketRelay.with(socket: server.socket) { port in
            let plain = Case(certificate: "", host: "127.0.0.1", query: "tls=required", fault: nil)
            let (status, said) = try await Self.check(database, port, server, folder, plain)
            #expect(status != 0 && said.contains("the server does not support it"), "\(said)")
            let open = Case(certificate: "", host: "127.0.0.1", query: "tls=off", fault: nil)
            #expect(try await Self.check(database, port, server, folder, open).status == 0)
        }
    }
}

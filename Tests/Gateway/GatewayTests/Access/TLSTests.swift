import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// A gateway with TLS, and clients of other libraries.
@Suite(.serialized, .timeLimit(.minutes(3))) struct TLSTests {
    static func makeCertificate(in folder: String, name: String = "server") async throws {
        try await Shell.run([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/CN=\(name)", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
            folder + "/\(name).key", "-out", folder + "/\(name).pem",
        ])
    }

    private static func gateway(_ folder: String) async throws -> GatewayProcess {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        return try await GatewayProcess(
            database, rules: MergeTests.rules,
            options: ["--tls-certificate", folder + "/server.pem", "--tls-key", folder + "/server.key"])
    }

    @Test("A client verifies the certificate of the gateway")
    func verification() async throws {
        let folder = try TemporaryFolder()
        try await Self.makeCertificate(in: folder.path)
        let gateway = try await Self.gateway(folder.path)
        let url = "https://localhost:\(gateway.port)/v1/records/people/1"
        let trusting = ["curl", "-sS", "--max-time", "20", "--cacert", folder.path + "/server.pem"]
        for version in ["1.2", "1.3"] {
            let answer = try await Shell.capture(trusting + ["--tls-max", version, url])
            #expect(answer.status == 0 && answer.output.contains("Ann"), "\(version): \(answer.errors)")
        }
        #expect(try await Shell.capture(trusting + ["--tlsv1.0", "--tls-max", "1.1", url]).status != 0)
        #expect(try await Shell.capture(["curl", "-sS", "--max-time", "20", url]).status != 0, "nobody vouches for it")
        let plain = url.replacing("https", with: "http")
        #expect(try await Shell.capture(["curl", "-sS", "--max-time", "20", plain]).status != 0)
    }

    @Test("Clients that begin a handshake and stop do not delay other clients")
    func stalledHandshake() async throws {
        let folder = try TemporaryFolder()
        try await Self.makeCertificate(in: folder.path)
        let gateway = try await Self.gateway(folder.path)
        let script = """
            import socket, ssl, sys, urllib.request
            folder, port = sys.argv[1], int(sys.argv[2])
            stalled = [socket.create_connection(("127.0.0.1", port)) for _ in range(200)]
            for index, client in enumerate(stalled):
                client.sendall(bytes([22, 3, 1, 2, 0, 1])[: index % 7])
            context = ssl.create_default_context(cafile=folder + "/server.pem")
            for _ in range(20):
                answer = urllib.request.urlopen(f"https://localhost:{port}/healthz", timeout=20, context=context)
                assert answer.status == 200
            print(len(stalled))
            """
        let ran = try await Shell.capture(["python3", "-", folder.path, "\(gateway.port)"], input: script)
        #expect(ran.status == 0 && ran.output == "200\n", "\(ran.errors)")
    }

    /// Connections that are open go on under the certificate that they began with.
    @Test("A renewed certificate is used without a restart")
    func renewal() async throws {
        let folder = try TemporaryFolder()
        try await Self.makeCertificate(in: folder.path)
        try await Self.makeCertificate(in: folder.path, name: "next")
        let gateway = try await Self.gateway(folder.path)
        let script = """
            import http.client, os, shutil, signal, ssl, sys
            folder, port, pid = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
            def connect(name):
                context = ssl.create_default_context(cafile=folder + "/" + name)
                connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=20)
                connection.request("GET", "/healthz")
                assert connection.getresponse().read() == b'{"status":"ok"}'
                return connection
            shutil.copy(folder + "/server.pem", folder + "/first.pem")
            old = connect("first.pem")
            os.replace(folder + "/next.key", folder + "/server.key")
            shutil.copy(folder + "/next.pem", folder + "/server.pem")
            while True:
                os.kill(pid, signal.SIGHUP)
                try:
                    connect("next.pem").close()
                    break
                except ssl.SSLCertVerificationError:
                    pass
            old.request("GET", "/healthz")
            print(old.getresponse().status)
            """
        let ran = try await Shell.capture(
            ["python3", "-", folder.path, "\(gateway.port)", "\(gateway.identifier)"], input: script)
        #expect(ran.status == 0 && ran.output == "200\n", "\(ran.errors)")
        // Files that do not belong together change nothing.
        try "nonsense".write(toFile: folder.path + "/server.key", atomically: true, encoding: .utf8)
        while !gateway.log.contains("the previous certificate stays in use") {
            gateway.hangUp()
            let answer = try await Shell.capture([
                "curl", "-sS", "--max-time", "20", "--cacert", folder.path + "/next.pem",
                "https://localhost:\(gateway.port)/healthz",
            ])
            #expect(answer.status == 0, "\(answer.errors)")
        }
    }

    /// The address of a key set is believed only under a certificate of its name, from an authority that is trusted.
    @Test("A key set is loaded over TLS")
    func keySet() async throws {
        let folder = try TemporaryFolder(files: ["index.html": "", "keys.json": #"{"keys":[]}"#])
        try await Self.makeCertificate(in: folder.path)
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules,
            options: [
                "--tls-certificate", folder.path + "/server.pem", "--tls-key", folder.path + "/server.key",
                "--serve-app", folder.path,
            ])
        func body(_ host: String, authority: String?) async throws(KeySetError) -> String {
            let address = try KeyAddress("https://\(host):\(gateway.port)/app/keys.json")
            return String(decoding: try await KeyFetch.body(at: address, authorityFile: authority), as: UTF8.self)
        }
        let authority = folder.path + "/server.pem"
        #expect(try await body("localhost", authority: authority) == #"{"keys":[]}"#)
        #expect(try await body("127.0.0.1", authority: authority) == #"{"keys":[]}"#)
        await #expect(throws: KeySetError.self, "nobody vouches for it") { try await body("localhost", authority: nil) }
        // Of loopback as well, and not among the names of the certificate.
        await #expect(throws: KeySetError.self) { try await body("127.0.0.2", authority: authority) }
    }

    @Test(
        "Unusable files are errors",
        arguments: [
            (["--tls-certificate", "/nowhere"], "--tls-certificate and --tls-key go together"),
            (["--tls-certificate", "/nowhere", "--tls-key", "/nowhere"], "a certificate and its key in PEM"),
        ])
    func unusableFiles(_ options: [String], _ fault: String) async throws {
        let ran = try await Shell.capture(
            [GatewayProcess.program, "serve", "--database", "sqlite:/nowhere", "--rules", "/nowhere"] + options)
        #expect(ran.status == 1 && ran.errors.contains(fault), "\(ran.errors)")
    }
}

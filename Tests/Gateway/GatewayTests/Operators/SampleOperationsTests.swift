import Foundation
import Operations
import RecordStore
import TestSupport
import Testing

@testable import Gateway

/// The files of Samples/operations, with the programs that read them.
@Suite struct SampleOperationsTests {
    private static let folder = Repository.root + "Samples/operations/"

    static func has(_ program: String) -> Bool {
        ["/usr/bin/", "/usr/sbin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + program) }
    }

    /// Figures that exist only with a certificate.
    private static let conditional = ["fieldmerge_certificate_end_timestamp_seconds"]

    @Test(
        "Every figure of the alerts and the dashboard is in /metrics", .tags(.mariadb), .needsMariaDB)
    func figuresExist() async throws {
        let name = /(?:fieldmerge|process)_[a-z_]+/
        let texts = try ["alerts.yaml", "grafana.json"].map { try Repository.text("Samples/operations/" + $0) }
        _ = try JSON(texts[1])
        let wanted = Set(texts.flatMap { $0.matches(of: name).map { String($0.output) } })
        #expect(wanted.count > 20)
        let database = try await JournalTests.database(.mariadb)
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, configure: { $0.scanRowsPerSecond = 1_000_000 }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}"#
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
                #expect(try await client.get("/v1/changes").status == 200)
                #expect(try await client.get("/v1/records/nothing").status == 404)
                // The first pass measures the lag.
                try await OutageTests.until {
                    try await client.get("/metrics").text.contains("fieldmerge_scan_lag_seconds ")
                }
                let page = try await client.get("/metrics").text
                for figure in wanted.sorted() where !Self.conditional.contains(figure) {
                    #expect(page.contains("\n" + figure) || page.hasPrefix(figure), "\(figure)")
                }
            }
        }
    }

    @Test("A push passes HAProxy, and probes do not", .enabled(if: has("haproxy")))
    func haproxy() async throws {
        try await Self.through("haproxy.cfg", port: "8443") {
            $0 + "  source 127.0.0.5\n"
        } start: { path, _ in
            try await Self.haproxy(path)
        } body: { client, log async throws in
            try await Self.pushes(client, log)
            try await Self.hidesProbes(client)
        }
    }

    @Test(
        "A push passes HAProxy as a TCP balancer, in either version of the PROXY protocol",
        .enabled(if: has("haproxy")), arguments: ["send-proxy", "send-proxy-v2"])
    func haproxyTCP(_ option: String) async throws {
        try await Self.through("haproxy-tcp.cfg", port: "8445") {
            $0.replacing("send-proxy-v2", with: option) + "  source 127.0.0.5\n"
        } start: { path, _ in
            try await Self.haproxy(path)
        } body: { client, log async throws in
            try await Self.pushes(client, log)
        }
    }

    private static func haproxy(_ path: String) async throws -> [String] {
        let check = try await Shell.capture(["haproxy", "-c", "-f", path])
        #expect(check.status == 0, "\(check)")
        return ["haproxy", "-W", "-f", path]
    }

    @Test("A push passes nginx, and probes do not", .enabled(if: has("nginx")))
    func nginx() async throws {
        try await Self.through("nginx.conf", port: "8444") {
            $0.replacing("  listen ", with: "  proxy_bind 127.0.0.5;\n  listen ")
        } start: { path, folder in
            let main = folder + "/main.conf"
            let logs = "error_log \(folder)/error.log; pid \(folder)/pid; daemon off; events {}\n"
            let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
            let http = "http { access_log off; \(paths.joined(separator: " ")) include \(path); }\n"
            try (logs + http).write(toFile: main, atomically: true, encoding: .utf8)
            let check = try await Shell.capture(["nginx", "-t", "-c", main])
            #expect(check.status == 0, "\(check)")
            return ["nginx", "-c", main]
        } body: { client, log async throws in
            try await Self.pushes(client, log)
            try await Self.hidesProbes(client)
        }
    }

    /// Sends a push, whose log line must name this client and not the proxy or a forged address.
    private static func pushes(_ client: HTTPClient.Session, _ log: KeptLog) async throws {
        let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}"#
        let answer = try await client.post("/v1/merge/people", edit, ["X-Forwarded-For": "203.0.113.9"])
        #expect(answer.status == 200, "\(answer.text)")
        let line = try #require(log.lines.first { $0.contains("/v1/merge/people") })
        #expect(line.contains(" from=127.0.0.1 "), "\(line)")
        #expect(try await client.get("/v1/changes").status == 200)
    }

    private static func hidesProbes(_ client: HTTPClient.Session) async throws {
        #expect(try await client.get("/readyz").status == 404)
        #expect(try await client.get("/metrics").status == 404)
    }

    /// Starts a proxy at 127.0.0.5 with a sample file, in front of a gateway that trusts it.
    private static func through(
        _ file: String, port own: String, _ change: @escaping @Sendable (String) -> String,
        start: @escaping @Sendable (String, String) async throws -> [String],
        body: @escaping @Sendable (HTTPClient.Session, KeptLog) async throws -> Void
    ) async throws {
        let database = try await JournalTests.database(.sqlite)
        let log = KeptLog()
        let proxies = try TrustedProxies.reading(["127.0.0.5"]).get()
        try await RunningGateway.with(
            database, rules: JournalTests.rules, journal: .together, log: log, configure: { $0.proxies = proxies }
        ) { gateway async throws in
            let folder = try TemporaryFolder()
            let port = Int.random(in: 20_000..<30_000)
            let text = change(try Repository.text("Samples/operations/" + file))
                .replacing(own + ";", with: "\(port);").replacing(":" + own, with: ":\(port)")
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
            let path = folder.path + "/" + file
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let proxy = Process()
            proxy.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            proxy.arguments = try await start(path, folder.path)
            try proxy.run()
            defer {
                proxy.terminate()
                proxy.waitUntilExit()
            }
            try await OutageTests.until {
                (try? await HTTPClient.with(port: port) { try await $0.get("/healthz").status }) == 200
            }
            try await HTTPClient.with(port: port) { try await body($0, log) }
        }
    }

    @Test("logrotate copies a full log and empties it", .enabled(if: has("logrotate")))
    func logrotate() async throws {
        let folder = try TemporaryFolder()
        let text = try Repository.text("Samples/operations/logrotate")
        let file = folder.path + "/logrotate"
        try text.replacing("/var/log/fieldmerge/", with: folder.path + "/").write(
            toFile: file, atomically: true, encoding: .utf8)
        try await Shell.run(["chmod", "644", file])
        let log = folder.path + "/gateway.log"
        try "a line\n".write(toFile: log, atomically: true, encoding: .utf8)
        // A gateway continues to write into the file that it has opened.
        let gateway = try FileHandle(forWritingTo: URL(filePath: log))
        try gateway.seekToEnd()
        let said = try await Shell.capture(["logrotate", "-f", "-s", folder.path + "/state", file])
        #expect(said.status == 0 && !said.errors.contains("error:"), "\(said)")
        try gateway.write(contentsOf: Data("next\n".utf8))
        try gateway.close()
        #expect(try String(contentsOfFile: log + ".1", encoding: .utf8) == "a line\n")
        #expect(try String(contentsOfFile: log, encoding: .utf8).hasSuffix("next\n"))
    }

    @Test("fail2ban finds requests without a token, and no imitation", .enabled(if: has("fail2ban-regex")))
    func fail2ban() async throws {
        let line = "2026-11-21T09:15:25Z notice fieldmerge: request id=a1 method=GET "
        let lines = [
            line + #"path="/v1/rules" status=401 ms=0.6 code=no-token from=192.0.2.7"#,
            line + #"path="/v1/push" status=401 ms=0.6 code=no-token device="x from=192.0.2.9" from=192.0.2.8"#,
            line
                + #"path="/\" status=401 ms=0.6 code=no-token from=192.0.2.9" status=404 ms=1.0 code=no-such-address from=192.0.2.6"#,
            line + #"path="/v1/rules" status=200 ms=0.6 from=192.0.2.5"#,
        ]
        #expect(try await Self.banned(lines.joined(separator: "\n") + "\n") == ["192.0.2.7", "192.0.2.8"])
    }

    @Test("fail2ban reads the log of a gateway, and its jail file", .enabled(if: has("fail2ban-regex")))
    func fail2banReadsTheLog() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let folder = try TemporaryFolder(files: ["tokens": AccessToken.make().line(name: "a", rights: [.read]) + "\n"])
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules,
            options: ["--tokens", folder.path + "/tokens", "--trusted-proxy", "127.0.0.1"])
        for (device, address) in [("d1", "192.0.2.7"), ("from=192.0.2.9 \"", "192.0.2.8")] {
            let status = try await HTTPClient.with(port: gateway.port) {
                try await $0.get("/v1/rules", ["X-Device-ID": device, "X-Forwarded-For": address]).status
            }
            #expect(status == 401)
            #expect(await gateway.line(containing: "from=\(address)") != nil)
        }
        #expect(try await Self.banned(gateway.log) == ["192.0.2.7", "192.0.2.8"], "\(gateway.log)")
        let settings = folder.path + "/fail2ban"
        try await Shell.run(["sh", "-c", "cp -r /etc/fail2ban \(settings) && rm -f \(settings)/jail.d/*"])
        for (source, target) in [("filter", "filter.d"), ("jail", "jail.d")] {
            try await Shell.run(
                ["cp", Self.folder + "fail2ban-\(source).conf", settings + "/\(target)/fieldmerge.conf"])
        }
        let check = try await Shell.capture(["fail2ban-client", "-c", settings, "-t"])
        #expect(check.status == 0, "\(check)")
        let jail = try await Shell.capture(["fail2ban-client", "-c", settings, "-d"])
        #expect(jail.output.contains("['set', 'fieldmerge', 'maxretry', 60]"), "\(jail)")
    }

    /// Returns the addresses that the filter finds in a log.
    private static func banned(_ text: String) async throws -> [String] {
        let folder = try TemporaryFolder()
        let log = folder.path + "/log"
        try text.write(toFile: log, atomically: true, encoding: .utf8)
        let said = try await Shell.capture(["fail2ban-regex", "-o", "<ip>", log, Self.folder + "fail2ban-filter.conf"])
        return said.output.split(separator: "\n").map(String.init)
    }
}

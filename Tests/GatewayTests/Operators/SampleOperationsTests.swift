import Foundation
import RecordStore
import TestSupport
import Testing

@testable import Gateway

/// The files of Samples/operations, with the programs that read them.
@Suite struct SampleOperationsTests {
    private static let folder = Repository.root + "Samples/operations/"

    private static func has(_ program: String) -> Bool {
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
                // The lag is known after the first pass.
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

    @Test("promtool accepts the alerts", .enabled(if: has("promtool")))
    func promtool() async throws {
        let said = try await Shell.capture(["promtool", "check", "rules", Self.folder + "alerts.yaml"])
        #expect(said.status == 0, "\(said)")
    }

    @Test("A push passes HAProxy, and probes do not", .enabled(if: has("haproxy")))
    func haproxy() async throws {
        try await Self.through("haproxy.cfg", ports: ["8443"]) { path, _ in
            let check = try await Shell.capture(["haproxy", "-c", "-f", path])
            #expect(check.status == 0, "\(check)")
            return ["haproxy", "-W", "-f", path]
        }
    }

    @Test("A push passes nginx, and probes do not", .enabled(if: has("nginx")))
    func nginx() async throws {
        try await Self.through("nginx.conf", ports: ["8444"]) { path, folder in
            let main = folder + "/main.conf"
            let logs = "error_log \(folder)/error.log; pid \(folder)/pid; daemon off; events {}\n"
            let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(folder)/\($0);" }
            let http = "http { access_log off; \(paths.joined(separator: " ")) include \(path); }\n"
            try (logs + http).write(toFile: main, atomically: true, encoding: .utf8)
            let check = try await Shell.capture(["nginx", "-t", "-c", main])
            #expect(check.status == 0, "\(check)")
            return ["nginx", "-c", main]
        }
    }

    /// Starts a proxy with a sample file, in front of a gateway, and sends a push through it.
    private static func through(
        _ file: String, ports: [String], _ command: @escaping @Sendable (String, String) async throws -> [String]
    ) async throws {
        let database = try await JournalTests.database(.sqlite)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            let folder = try TemporaryFolder()
            let port = Int.random(in: 20_000..<30_000)
            var text = try Repository.text("Samples/operations/" + file)
            for own in ports {
                text = text.replacing(own + ";", with: "\(port);").replacing(":" + own, with: ":\(port)")
            }
            text = text.replacing("127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
            let path = folder.path + "/" + file
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let arguments = try await command(path, folder.path)
            let proxy = Process()
            proxy.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            proxy.arguments = arguments
            try proxy.run()
            defer {
                proxy.terminate()
                proxy.waitUntilExit()
            }
            try await OutageTests.until {
                (try? await HTTPClient.with(port: port) { try await $0.get("/healthz").status }) == 200
            }
            try await HTTPClient.with(port: port) { client async throws in
                let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}"#
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
                #expect(try await client.get("/readyz").status == 404)
                #expect(try await client.get("/metrics").status == 404)
                #expect(try await client.get("/v1/changes").status == 200)
            }
        }
    }

    @Test("logrotate accepts its file", .enabled(if: has("logrotate")))
    func logrotate() async throws {
        let folder = try TemporaryFolder()
        // The file itself must belong to root, and its logs need not exist.
        let said = try await Shell.capture(["logrotate", "-d", "-s", folder.path + "/state", Self.folder + "logrotate"])
        #expect(said.status == 0 && !said.errors.contains("error:"), "\(said)")
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
        let folder = try TemporaryFolder()
        let log = folder.path + "/log"
        try (lines.joined(separator: "\n") + "\n").write(toFile: log, atomically: true, encoding: .utf8)
        let said = try await Shell.capture(
            ["fail2ban-regex", "-o", "<ip>", log, Self.folder + "fail2ban-filter.conf"])
        #expect(said.output.split(separator: "\n").map(String.init) == ["192.0.2.7", "192.0.2.8"], "\(said)")
    }
}

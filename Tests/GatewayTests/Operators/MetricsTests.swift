import Testing
import TestSupport

/// The figures at `/metrics`.
@Suite(.timeLimit(.minutes(2))) struct MetricsTests {
    private static func value(_ name: String, in page: String) -> Double? {
        page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
    }

    @Test(arguments: TestEngine.allCases) func gaugesTellHowItIs(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}"#
                // Until a record was read nobody knows that they are short, and share transactions.
                #expect(try await client.get("/v1/records/people").status == 200)
                #expect(try await client.post("/v1/merge/people", edit).status == 200)
                _ = try await client.get("/v1/records/people/1")
                let version = try #require(try await client.get("/v1/rules").json()["version"]?.text)
                let page = try await client.get("/metrics").text
                #expect(Self.value("fieldmerge_ready", in: page) == 1)
                #expect(Self.value("fieldmerge_rule_problems", in: page) == 0)
                #expect(
                    page.contains("fieldmerge_info{version=\"\(try await Self.version())\",rules=\"\(version)\"} 1"))
                for purpose in ["pushes", "reads"] {
                    #expect(Self.value("fieldmerge_queue_waiting{queue=\"\(purpose)\"}", in: page) == 0, "\(page)")
                }
                #expect(Self.value("fieldmerge_journal_rows", in: page) != nil)
                #expect(Self.value("fieldmerge_batch_size_count{queue=\"pushes\"}", in: page) == 1)
                #expect(Self.value("fieldmerge_batch_size_sum{queue=\"pushes\"}", in: page) == 1)
                #expect(Self.value("fieldmerge_batch_size_count{queue=\"reads\"}", in: page) == 1)
                #expect(page.contains("fieldmerge_batch_size_bucket{queue=\"pushes\",le=\"1\"} 1\n"), "\(page)")
                #expect(page.contains("fieldmerge_request_seconds_bucket{route=\"/v1/merge/{resource}\",le="))
                // A file has no pool.
                let open = Self.value("fieldmerge_database_connections{state=\"open\"}", in: page)
                guard kind == .mariadb else {
                    #expect(open == nil)
                    return
                }
                let limit = Self.value("fieldmerge_database_connections{state=\"limit\"}", in: page)
                #expect(try #require(open) >= 1 && #require(limit) >= #require(open), "\(page)")
                #expect(Self.value("fieldmerge_database_connections{state=\"used\"}", in: page) != nil)
                #expect(Self.value("fieldmerge_database_waiting", in: page) == 0)
            }
        }
    }

    private static func version() async throws -> String {
        let lines = try await Shell.run([GatewayProcess.program, "--version"]).split(separator: "\n")
        return lines[0].split(separator: " ").last.map(String.init) ?? ""
    }

    /// The gauge and the probe are one truth.
    @Test(.tags(.mariadb), .needsMariaDB) func whoIsNotReadyCountsAsSuch() async throws {
        let server = try await PrivateMariaDB()
        let database = try await JournalTests.database(.mariadb, server: server)
        try await RunningGateway.with(database, rules: JournalTests.rules) { gateway async throws in
            try await gateway.client { client async throws in
                #expect(Self.value("fieldmerge_ready", in: try await client.get("/metrics").text) == 1)
                server.kill()
                try await OutageTests.until { try await client.get("/readyz").status == 503 }
                #expect(Self.value("fieldmerge_ready", in: try await client.get("/metrics").text) == 0)
            }
        }
    }
}

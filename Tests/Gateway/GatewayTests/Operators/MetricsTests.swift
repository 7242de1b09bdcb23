import Operations
import RecordStore
import Testing
import TestSupport

@testable import Gateway

/// The figures at `/metrics`.
@Suite(.timeLimit(.minutes(2))) struct MetricsTests {
    private static func value(_ name: String, in page: String) -> Double? {
        page.split(separator: "\n").first { $0.hasPrefix(name + " ") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
    }

    @Test("Gauges show the current state", arguments: TestEngine.allCases)
    func gauges(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        try await RunningGateway.with(database, rules: JournalTests.rules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Anna"}}}}"#
                // Before its first read of a record, the gateway does not know that records are short and pushes can
                // share transactions.
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

    /// The gauge and the probe agree.
    @Test("A gateway that is not ready has the gauge 0", .tags(.mariadb), .needsMariaDB)
    func notReady() async throws {
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

    @Test("Figures of the journal, of problems and of devices", arguments: TestEngine.allCases)
    func operatorFigures(_ kind: TestEngine) async throws {
        let database = try await JournalTests.database(kind)
        let tokens = [AccessToken.make(), AccessToken.make()]
        let lines = zip(["till-1", "till-2"], tokens).map { $1.line(name: $0, rights: [.read, .write]) }
        try await RunningGateway.with(
            database, rules: JournalTests.rules, tokens: lines.joined(separator: "\n"), journal: .together,
            configure: { $0.invalidPushesPerDay = 50 }
        ) { gateway async throws in
            for token in tokens {
                try await gateway.client(token: token.secret) { client async throws in
                    let taken = JournalTests.edit(#"{"person":{"email":{"old":"a@x","new":"b@x"}}}"#)
                    #expect(try await client.post("/v1/merge/people", taken).status == 422)
                    #expect(try await client.post("/v1/merge/people", "{").status == 400)
                    #expect(try await client.get("/v1/changes", ["X-Device-ID": "d"]).status == 200)
                }
            }
            let page = try await gateway.client(token: tokens[0].secret) { try await $0.get("/metrics").text }
            #expect(page.contains(#"fieldmerge_problems_total{code="unique",resource="people"} 2"#), "\(page)")
            #expect(page.contains(#"fieldmerge_problems_total{code="not-json",resource="people"} 2"#), "\(page)")
            #expect(Self.value("fieldmerge_refused_pushes", in: page) == 2, "\(page)")
            #expect(Self.value(#"fieldmerge_devices{within="5m"}"#, in: page) == 2, "\(page)")
            #expect(Self.value(#"fieldmerge_journal_client_bytes{who="till-2"}"#, in: page) ?? 0 > 0, "\(page)")
            #expect(Self.value("fieldmerge_journal_oldest_entry_seconds", in: page) ?? 1_000 < 600, "\(page)")
            #expect(
                Self.value("fieldmerge_writable", in: page) == 1 && Self.value("fieldmerge_database_up", in: page) == 1)
            #expect(Self.value("process_resident_memory_bytes", in: page) ?? 0 > 1_000_000)
        }
    }

    @Test("Names of tokens are escaped in labels")
    func labels() {
        var page = MetricsPage()
        page.add("a", labels: [("who", #"x"\y"#)], value: 1)
        #expect(page.text == #"a{who="x\"\\y"} 1"# + "\n")
    }

    @Test("Each device counts once, at its last request")
    func devices() {
        let (devices, start) = (SyncedDevices(), ContinuousClock.now)
        devices.note(Sender(who: "a", device: "1"), at: start - .seconds(90_000))
        devices.note(Sender(who: "a", device: "2"), at: start - .seconds(90_000))
        devices.note(Sender(who: "b", device: "1"), at: start - .seconds(600))
        devices.note(Sender(who: "a", device: "1"), at: start)
        let counts = devices.counts(at: start)
        #expect(counts.map(\.name) == ["5m", "1h", "1d", "7d", "30d", "older"])
        #expect(counts.map(\.count) == [1, 1, 0, 1, 0, 0])
    }
}

import RecordStore
import TestSupport

@testable import Gateway

/// Gateways that scan for changes of other programs.
enum ScanFixture {
    static func configure(_ configuration: inout GatewayConfiguration) {
        configure(&configuration, log: PrivateMariaDB.readsLog ? .expected : .never)
    }

    static func configure(_ configuration: inout GatewayConfiguration, log: RowLogUse) {
        configuration.scanRowsPerSecond = 1_000_000
        configuration.scanInterval = .milliseconds(50)
        configuration.foreignLog = log
    }

    /// Runs a gateway over the tables of `FeedFixture` that has looked at all rows once.
    static func with(
        _ kind: TestEngine, _ place: JournalPlace = .together,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: FeedFixture.sql(.mariadb), sqlite: FeedFixture.sql(.sqlite))
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        try await run(on: database, place, body)
    }

    /// Runs a gateway on an existing database.
    static func run(
        on database: TestDatabase, rules: [String: String] = FeedFixture.rules, _ place: JournalPlace = .together,
        stage: Stage? = nil,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        try await RunningGateway.with(database, rules: rules, journal: place, stage: stage, configure: configure) {
            gateway async throws in
            try await gateway.client { client async throws in try await client.hasScanned() }
            try await body(gateway)
        }
    }
}

/// A value that one gateway's test leaves for the next gateway.
actor Kept<Element: Sendable> {
    private(set) var value: Element?

    func keep(_ value: Element) { self.value = value }
}

/// Keeps the gateway that scans from filing anything or going on.
struct ScanHold {
    private let database: TestDatabase

    init(_ database: TestDatabase) async throws {
        self.database = database
        // The lease belongs to another holder for the next minute.
        try await database.runOnJournal(
            "UPDATE scan SET holder = 'nobody', term = term + 1, until = \(Self.soon(database.kind));")
    }

    private static func soon(_ kind: TestEngine) -> String {
        kind == .mariadb
            ? "UTC_TIMESTAMP(6) + INTERVAL 50 SECOND" : "strftime('%Y-%m-%d %H:%M:%f', 'now', '+50 seconds')"
    }

    func end() async throws { try await database.runOnJournal("UPDATE scan SET holder = NULL, until = NULL;") }
}

extension HTTPClient.Session {
    /// Waits until all rows have been looked at once.
    func hasScanned() async throws {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let ready = try await get("/readyz").json()
            let feed = ready["feed"]
            let isDecided = !PrivateMariaDB.readsLog || feed?["source"]?.text == "binlog" || feed?["binlogFault"] != nil
            if isDecided, feed?["lagSeconds"]?.int != nil { return }
            guard ContinuousClock.now < end else { throw Shell.Failure(description: "no scan: \(ready)") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The value of a metric; 0 if it is missing.
    func metric(_ name: String) async throws -> Int {
        let lines = try await get("/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix(name + " ") }.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
            ?? 0
    }

    /// Requests changes until all these records were reported.
    ///
    /// - Returns: all reported changes in order, and the last position.
    func changes(
        after position: (feed: String, revision: Int), until names: Set<String>
    ) async throws -> (changes: [JSON], position: (feed: String, revision: Int)) {
        var position = position
        var reported: [JSON] = []
        let end = ContinuousClock.now + .seconds(60)
        while !names.isSubset(of: reported.map(\.name)) {
            guard ContinuousClock.now < end else {
                throw Shell.Failure(description: "not reported: \(names.subtracting(reported.map(\.name)))")
            }
            let answer = try await get("/v1/changes?since=\(position.revision)&feed=\(position.feed)&wait=5")
            guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
            let page = try answer.json()
            reported += page["changes"]?.array ?? []
            position.revision = page["revision"]?.int ?? -1
        }
        return (reported, position)
    }
}

extension JSON {
    /// The record that a change names.
    var name: String { "\(self["resource"]?.text ?? "")/\(self["id"].map(\.description) ?? "")" }
}

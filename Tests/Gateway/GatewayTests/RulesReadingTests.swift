import Foundation
import Logging
import MergeCore
import MergeService
import RecordStore
import Synchronization
import Testing
import TestSupport

@testable import Operations

/// Readings of the rules that overlap, and readings that change nothing.
@Suite(.timeLimit(.minutes(2))) struct RulesReadingTests {
    private static let sql = "CREATE TABLE orders (id INTEGER PRIMARY KEY, state VARCHAR(20), card VARCHAR(20));"

    private static func rules(_ groups: String, comment: String = "") -> String {
        comment + "resource: orders\nsections:\n  order: {table: orders, groups: {\(groups)}}\n"
    }

    /// A folder of rules and a loader that reads it through an engine with a gate.
    private struct Place {
        let folder: TemporaryFolder
        let engine: GatedEngine
        let loader: RulesLoader

        init(_ kind: TestEngine) async throws {
            let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
            folder = try TemporaryFolder(files: ["orders.yaml": rules("state: state, card: card")])
            engine = GatedEngine(try database.engine())
            loader = RulesLoader(
                folder: folder.path, engine: engine, knowsClients: false,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            ) { () async throws(StoreError) in .off }
            #expect(try await loader.start() == nil)
        }

        func write(_ text: String) throws {
            try Data(text.utf8).write(to: URL(filePath: folder.path + "/orders.yaml"))
        }

        /// The groups of the active rules.
        var groups: [String] { loader.box.active?.catalog["orders"]?.root.groups.map(\.name) ?? [] }
    }

    @Test("A reading that changes nothing keeps the rules object", arguments: TestEngine.allCases)
    func sameObject(_ kind: TestEngine) async throws {
        let place = try await Place(kind)
        let start = try #require(place.loader.box.active)
        await place.loader.reload()
        #expect(place.loader.box.active === start)
        // The lines of the rules are part of answers.
        let groups = "state: {column: state, on-conflict: server-wins}, card: card"
        try place.write(Self.rules(groups))
        await place.loader.reload()
        let first = try #require(place.loader.box.active)
        try place.write(Self.rules(groups, comment: "# Orders of the shop\n"))
        await place.loader.reload()
        let second = try #require(place.loader.box.active)
        #expect(second !== first && second.catalog.version == first.catalog.version)
    }

    @Test("A slow reading never replaces the result of a later one", arguments: TestEngine.allCases)
    func slowReading(_ kind: TestEngine) async throws {
        let place = try await Place(kind)
        place.engine.close(1)
        async let slow: Void = place.loader.reload()
        await place.engine.waitUntilHeld()
        try place.write(Self.rules("state: state"))
        await place.loader.reload()
        #expect(place.groups == ["state"])
        place.engine.open()
        await slow
        #expect(place.groups == ["state"])
    }

    @Test("A slow reading does not hide the errors that a later one found", arguments: TestEngine.allCases)
    func slowReadingAfterBrokenFile(_ kind: TestEngine) async throws {
        let place = try await Place(kind)
        place.engine.close(1)
        async let slow: Void = place.loader.reload()
        await place.engine.waitUntilHeld()
        try place.write(Self.rules("state: nowhere"))
        await place.loader.reload()
        let trouble = place.loader.box.trouble
        #expect(trouble.count == 1 && trouble[0].contains("nowhere"))
        place.engine.open()
        await slow
        #expect(place.loader.box.trouble == trouble)
    }
}

/// An engine that delays its next uses until the gate opens.
private final class GatedEngine: RecordEngine {
    private let engine: any RecordEngine
    private let left = Mutex(0)
    private let held: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)
    private let gate: (stream: AsyncStream<Void>, continuation: AsyncStream<Void>.Continuation)

    init(_ engine: any RecordEngine) {
        self.engine = engine
        held = AsyncStream.makeStream()
        gate = AsyncStream.makeStream()
    }

    var dialect: any Dialect { engine.dialect }

    /// Closes the gate for the next uses.
    func close(_ uses: Int) { left.withLock { $0 = uses } }
    func open() { gate.continuation.finish() }
    func waitUntilHeld() async { for await _ in held.stream { return } }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let isHeld = left.withLock { left in
            if left > 0 { left -= 1 } else { return false }
            return true
        }
        if isHeld {
            held.continuation.yield()
            for await _ in gate.stream {}
        }
        return try await engine.withConnection(for: purpose, deadline: deadline, body)
    }

    func close() async { await engine.close() }
}

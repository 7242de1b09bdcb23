import Foundation
import MergeCore
import RecordStore
import SQLiteStore
import Synchronization
import Testing

@testable import MergeService

/// Requests for short records do not wait for long ones.
@Suite(.timeLimit(.minutes(1))) struct LongRecordTests {
    /// Texts, most of them short.
    ///
    /// The last ones are long.
    private final class Texts: Sendable {
        static let count = 68
        static let long = 61...count
        let engine: CountingEngine
        let service: MergeService
        let active: ActiveRules
        let resource: Resource
        private let folder: URL

        init() async throws {
            folder = FileManager.default.temporaryDirectory.appending(path: "fm-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let database = try SQLiteEngine(path: folder.appending(path: "db").path(), creates: true)
            engine = CountingEngine(database)
            try await database.write(deadline: .now + .seconds(60)) { session throws(StoreError) in
                let sql = [
                    "CREATE TABLE texts (id INTEGER PRIMARY KEY, t TEXT NOT NULL)",
                    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count)) "
                        + "INSERT INTO texts SELECT i, printf('%.*c', CASE WHEN i > 60 THEN 300000 ELSE 9 END, 'x') FROM n",
                ]
                for text in sql { _ = try session.execute(Statement(sql: text, binds: [])) }
                return .commit(())
            }
            let table = TableName(name: "texts")
            let section = Section(
                name: "text", kind: .root,
                table: SectionTable(
                    table,
                    columns: [
                        Column(name: "id", type: .integer(-1_000_000...1_000_000), isNullable: false),
                        Column(name: "t", type: .text(TextType()), isNullable: false),
                    ], keyCount: 1),
                fields: SectionFields(
                    [Field(name: "t", column: 1)],
                    groups: [Group(name: "t", fields: 0..<1, onConflict: Ruled(.serverWins), merge: nil)]))
            resource = try #require(Resource(name: "texts", description: nil, sections: [section]))
            active = ActiveRules(
                catalog: Catalog(resources: [resource], version: "v"),
                schema: try await database.schema(of: [table], deadline: .now + .seconds(60)),
                dialect: database.dialect)
            var limits = MergeLimits()
            limits.longReads = 1
            limits.longPushes = 2
            service = MergeService(
                engine: engine, limits: limits, digest: { _, _, _ in [] },
                form: { result, _, _ in Array("\(result.status)".utf8) }, clock: { nil })
        }

        deinit {
            try? FileManager.default.removeItem(at: folder)
        }

        func read(_ id: Int) async throws {
            let key = RecordKey([.integer(Int128(id))])
            #expect(try await service.record(resource, key, deadline: .now + .seconds(60)) != nil)
        }

        func request(_ id: Int, body: Int = 10) -> PushRequest {
            func values(_ text: String) -> FieldValues {
                FieldValues(fields: [0], values: [.text(ExactText(text))])
            }
            let group = GroupEdit(
                group: 0, base: .values(values("never")), edited: values("y"), path: WirePath("t"), isRowForm: false)
            let rowID = RowID(RecordKey([.integer(Int128(id))]))
            let row = RowEdit(section: 0, id: rowID, action: .edit([group]), path: WirePath("text"))
            let edit = Edit(resource: resource, id: rowID, rows: [row], path: WirePath("edits"))
            return PushRequest(
                push: Push(key: nil, atomicity: .push, edits: [edit]), form: .merge,
                sender: Sender(who: "", device: nil),
                purpose: .apply(nil),
                sent: SentRequest(address: "/v1/push", body: [UInt8](repeating: 0, count: body)))
        }

        func push(_ id: Int, body: Int = 10) async throws {
            _ = try await service.merge(request(id, body: body), active: active, deadline: .now + .seconds(60))
        }

        /// Items that shared, or could have shared, a transaction.
        func shared(_ queue: String) -> Int { service.queues.first { $0.name == queue }?.sizes.sum ?? -1 }
    }

    /// A request for a long record leaves the shared transaction, and only one at a time is read.
    @Test("Long records are read one after the other")
    func longReads() async throws {
        let texts = try await Texts()
        for id in 1...Texts.count { try await texts.read(id) }
        let before = texts.shared("reads")
        try await texts.read(1)
        #expect(texts.shared("reads") == before + 1)
        texts.engine.forget()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in Texts.long { group.addTask { try await texts.read(id) } }
            for _ in 0..<3 {
                group.addTask {
                    _ = try await texts.service.page(
                        texts.resource, after: nil, limit: 500, deadline: .now + .seconds(60)
                    ) { $0.reduce(0) { $0 + ($1.readable?.length(in: texts.resource) ?? 0) } }
                }
            }
            try await group.waitForAll()
        }
        #expect(texts.shared("reads") == before + 1)
        #expect(texts.engine.most(.snapshot) == 1)
    }

    /// A record that was never read may be long.
    @Test("The first read is not shared")
    func firstRead() async throws {
        let texts = try await Texts()
        try await texts.read(2)
        #expect(texts.shared("reads") == 0)
    }

    @Test("Long pushes run one after the other")
    func longPushes() async throws {
        let texts = try await Texts()
        for id in 1...Texts.count { try await texts.read(id) }
        try await texts.push(1)
        #expect(texts.shared("pushes") == 1)
        texts.engine.forget()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in Texts.long {
                group.addTask { try await texts.push(id) }
                group.addTask { try await texts.push(1, body: 65_537) }
            }
            try await group.waitForAll()
        }
        #expect(texts.shared("pushes") == 1)
        #expect(texts.engine.most(.write) <= 2)
    }

    /// The merge of a long body takes time, and other pushes do not wait for it.
    @Test("A push with a long body has a separate transaction")
    func longBody() async throws {
        let texts = try await Texts()
        func queued(_ body: Int) throws -> QueuedPush? {
            let request = texts.request(1, body: body)
            return QueuedPush(
                PushItem(request, plan: try PushPlan(request.push), active: texts.active, deadline: .now + .seconds(60))
            )
        }
        #expect(try queued(65_536) != nil)
        #expect(try queued(65_537) == nil)
    }

    /// The known length of a record is that of its last read.
    ///
    /// Unknown records have the average length of their resource.
    @Test("The lengths of records are remembered")
    func lengths() async throws {
        let texts = try await Texts()
        let lengths = RecordLengths()
        func record(_ id: Int, _ length: Int) -> Record {
            Record(
                key: RecordKey([.integer(Int128(id))]),
                sections: [.one([.integer(Int128(id)), .text(ExactText(String(repeating: "x", count: length)))])])
        }
        func isLong(_ id: Int) -> Bool { lengths.long(record(id, 0).key, of: texts.resource) != nil }
        #expect(isLong(1) && lengths.mean(of: texts.resource) == nil)
        #expect(lengths.known(record(1, 0).key, of: texts.resource) == nil)
        for id in 1...20 { lengths.note([record(id, 10)], of: texts.resource) }
        #expect(!isLong(1))
        // A long record has no influence on other records, after any number of reads.
        for _ in 0..<100 { lengths.note([record(21, 400_000)], of: texts.resource) }
        #expect(isLong(21) && !isLong(1) && !isLong(99))
        lengths.note([record(21, 10)], of: texts.resource)
        #expect(!isLong(21))
        for id in 100..<200 { lengths.note([record(id, 70_000)], of: texts.resource) }
        #expect(isLong(199) && isLong(99))
        lengths.note([], of: texts.resource)
        #expect(isLong(99))
    }

    /// A push that waits for rows of another program returns its permit early: five at once and no more.
    @Test("A blocked push returns its permit early")
    func blockedPush() async throws {
        let permits = Permits(limit: 1)
        let far = ContinuousClock.now + .seconds(600)
        for _ in 0..<2 {
            let begun = (0...Permits.earlyReleaseLimit).map { _ in Wait<Void>() }
            let ends = begun.map { _ in Wait<Void>() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (begin, end) in zip(begun, ends) {
                    group.addTask {
                        try await permits.acquire(if: true, until: far)
                        try await permits.run(releasingAfter: .zero) {
                            begin.end(())
                            _ = await end.outcome(until: far)
                        }
                    }
                }
                for begin in begun { _ = await begin.outcome(until: far) }
                #expect(await !permits.acquire(until: .now) && permits.used == 1)
                for end in ends { end.end(()) }
                try await group.waitForAll()
            }
            #expect(permits.used == 0 && permits.waiting == 0)
        }
    }

    @Test("A push that ends in time keeps its permit")
    func quickPush() async throws {
        let permits = Permits(limit: 1)
        try await permits.acquire(if: true, until: .now + .seconds(600))
        try await permits.run(releasingAfter: .seconds(3_600)) { #expect(await !permits.acquire(until: .now)) }
        #expect(permits.used == 0 && permits.waiting == 0)
    }

    @Test("A long push waits for its permit until its deadline")
    func deadline() async throws {
        let permits = Permits(limit: 1)
        try await permits.acquire(if: true, until: .now + .seconds(600))
        let late = await #expect(throws: StoreError.self) { try await permits.acquire(if: true, until: .now) }
        #expect(late?.kind == .busy && permits.used == 1)
        try await permits.acquire(if: false, until: .now)
        permits.release()
        let caller = Caller()
        caller.leave()
        let unwanted = await #expect(throws: StoreError.self) {
            try await permits.acquire(if: true, until: .now + .seconds(600), for: caller)
        }
        #expect(unwanted?.kind == .busy && permits.used == 0 && permits.waiting == 0)
    }
}

/// An engine that counts who uses it at once.
private final class CountingEngine: RecordEngine {
    private let engine: any RecordEngine
    private let counts = Mutex<[Bool: (now: Int, most: Int)]>([:])

    init(_ engine: any RecordEngine) {
        self.engine = engine
    }

    var dialect: any Dialect { engine.dialect }

    func most(_ purpose: TransactionKind) -> Int { counts.withLock { $0[purpose == .write]?.most ?? 0 } }

    func forget() { counts.withLock { $0 = [:] } }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let isWrite = purpose == .write
        counts.withLock {
            let now = ($0[isWrite]?.now ?? 0) + 1
            $0[isWrite] = (now, max(now, $0[isWrite]?.most ?? 0))
        }
        defer { counts.withLock { $0[isWrite]?.now -= 1 } }
        return try await engine.withConnection(for: purpose, deadline: deadline, body)
    }

    func close() async { await engine.close() }
}

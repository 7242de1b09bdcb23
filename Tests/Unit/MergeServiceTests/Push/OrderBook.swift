import Foundation
import MergeCore
import RecordStore
import SQLiteStore

@testable import MergeService

/// A database of orders with lines, in a temporary file, for the stages of a push one by one.
///
/// Two resources contain the table of lines: `orders` as a list, and `lines` as its root.
final class OrderBook: Sendable {
    let engine: SQLiteEngine
    let active: ActiveRules
    let orders: Resource
    let lines: Resource
    private let folder: URL

    /// - Parameters:
    ///   - checks: the checks of order rows.
    ///   - frozenWhen: the condition under which an order is frozen.
    ///   - identity: the column that identifies a new line in its order, and as a record.
    ///   - hasDelivery: true if an order has a singleton for its delivery.
    init(
        checks: [RowCheck] = [], isTransactional: Bool = true, frozenWhen: String? = nil, identity: [Int]? = nil,
        hasDelivery: Bool = false
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        engine = try SQLiteEngine(path: folder.appending(path: "db").path(), creates: true)
        let statements = [
            "CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, state TEXT NOT NULL, total INTEGER NOT NULL)",
            "CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, order_no INTEGER NOT NULL, article TEXT UNIQUE)",
            "CREATE TABLE deliveries (order_no INTEGER PRIMARY KEY, address TEXT)",
            "INSERT INTO deliveries VALUES (1, 'Rome'), (2, 'Oslo')",
            "INSERT INTO orders VALUES (1, 'new', 10), (2, 'new', 20), (3, 'new', 30)",
            "INSERT INTO lines VALUES (1, 1, 'tea'), (2, 1, 'rice'), (3, 2, 'beans')",
        ]
        try await engine.write(deadline: .now + .seconds(60)) { session throws(StoreError) in
            for sql in statements { _ = try session.execute(Statement(sql: sql, binds: [])) }
            return .commit(())
        }
        let (order, line) = (TableName(name: "orders"), TableName(name: "lines"))
        let delivery = TableName(name: "deliveries")
        let schema = try await engine.schema(of: [order, line, delivery], deadline: .now + .seconds(60))
        var rules = SectionRules()
        rules.checks = checks
        rules.frozenWhen = frozenWhen.map { Ruled($0) }
        var lineRules = SectionRules()
        lineRules.identity = identity.map { Ruled($0) }
        let root = Section(
            name: "order", kind: .root,
            table: SectionTable(
                order, columns: [Self.id, Self.text("state"), Self.total], keyCount: 1, generatedKeyColumn: 0,
                isTransactional: isTransactional),
            fields: Self.fields(["state", "total"]), rules: rules)
        let columns = [Self.id, Column(name: "order_no", type: Self.number, isNullable: false), Self.text("article")]
        let list = Section(
            name: "lines", kind: .list,
            table: SectionTable(
                line, columns: columns, keyCount: 1, generatedKeyColumn: 0,
                parent: [ParentLink(column: 1, rootColumn: 0)], isTransactional: isTransactional),
            fields: SectionFields(
                [Field(name: "article", column: 2)],
                groups: [Group(name: "article", fields: 0..<1, onConflict: Ruled(.clientWins), merge: nil)]),
            rules: lineRules)
        let part = Section(
            name: "delivery", kind: .singleton,
            table: SectionTable(
                delivery,
                columns: [Column(name: "order_no", type: Self.number, isNullable: false), Self.text("address")],
                keyCount: 0, parent: [ParentLink(column: 0, rootColumn: 0)], isTransactional: isTransactional),
            fields: Self.fields(["address"]))
        let own = Section(
            name: "line", kind: .root,
            table: SectionTable(
                line, columns: columns, keyCount: 1, generatedKeyColumn: 0, isTransactional: isTransactional),
            fields: Self.fields(["order_no", "article"]), rules: lineRules)
        let sections = hasDelivery ? [root, list, part] : [root, list]
        guard let orders = Resource(name: "orders", description: nil, sections: sections),
            let lines = Resource(name: "lines", description: nil, sections: [own])
        else { throw StoreError(.other, "the resources of the test are wrong") }
        (self.orders, self.lines) = (orders, lines)
        // The journal is not written. Tests read the entries that the run records for it.
        let journal = Journal(
            tables: JournalTables(schema: "main", dialect: engine.dialect),
            codec: JournalCodec(
                entry: { _, _, _ in [] }, key: { key, _ in "\(key)" }, traces: { _, _, _, _ in EntryTraces(rows: [:]) },
                effects: { _, _ in [] }), together: engine)
        active = ActiveRules(
            catalog: Catalog(resources: [orders, lines], version: "v"), schema: schema, dialect: engine.dialect,
            journal: journal)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static let number = ColumnType.integer(-1_000_000...1_000_000)
    private static let id = Column(name: "id", type: number, isNullable: false)
    private static let total = Column(name: "total", type: number, isNullable: false)

    private static func text(_ name: String) -> Column { Column(name: name, type: .text(TextType()), isNullable: true) }

    private static func fields(_ names: [String]) -> SectionFields {
        SectionFields(
            names.enumerated().map { Field(name: $1, column: $0 + 1) },
            groups: names.enumerated().map { index, name in
                Group(name: name, fields: index..<index + 1, onConflict: Ruled(.clientWins), merge: nil)
            })
    }

    // MARK: Edits

    /// An edit of one field of a root row.
    func edit(_ resource: Resource, _ id: Int, _ field: String, from old: Value, to new: Value) -> Edit {
        let rowID = RowID(RecordKey([.integer(Int128(id))]))
        return Edit(
            resource: resource, id: rowID, rows: [change(resource.root, rowID, field, from: old, to: new)],
            path: WirePath("edits"))
    }

    private func change(_ section: Section, _ id: RowID, _ field: String, from old: Value, to new: Value) -> RowEdit {
        guard let group = section.group(named: field) else { preconditionFailure("The test names no group.") }
        let values = { FieldValues(fields: [group], values: [$0]) }
        return RowEdit(
            section: 0, id: id,
            action: .edit([
                GroupEdit(
                    group: group, base: .values(values(old)), edited: values(new), path: WirePath(field),
                    isRowForm: false)
            ]), path: WirePath(section.name))
    }

    /// An edit of the address of an order's delivery.
    func address(_ id: Int, from old: String, to new: String) -> Edit {
        let section = orders.sections[2]
        let values = { FieldValues(fields: [0], values: [Value.word($0)]) }
        let group = GroupEdit(
            group: 0, base: .values(values(old)), edited: values(new), path: WirePath("address"), isRowForm: false)
        return Edit(
            resource: orders, id: RowID(RecordKey([.integer(Int128(id))])),
            rows: [RowEdit(section: 2, id: nil, action: .edit([group]), path: WirePath(section.name))],
            path: WirePath("edits"))
    }

    /// The creation of a row of `lines` under a temporary id.
    func newLine(_ article: String, of order: Int, as id: String) -> Edit {
        let rowID = RowID(parts: [.generated], temporary: TemporaryID(id))
        return Edit(
            resource: lines, id: rowID,
            rows: [
                RowEdit(
                    section: 0, id: rowID,
                    action: .create(
                        FieldValues(fields: [0, 1], values: [.integer(Int128(order)), .text(ExactText(article))])),
                    path: WirePath("line"))
            ], path: WirePath("edits"))
    }

    // MARK: Runs

    /// The stages of one run.
    struct Stages {
        let run: RunEnvironment
        let session: CountingSession

        /// Returns an edit's first row.
        func row(_ edit: Int) -> EditedRow {
            let step = run.plan.steps.first { $0.index == edit } ?? run.plan.steps[0]
            return EditedRow(edit: step.rows[0], step: step)
        }
    }

    /// Runs a test inside a transaction that is rolled back.
    ///
    /// Several pushes of one edit each share it.
    func run<Answer: Sendable>(
        _ pushes: [[Edit]], atomicity: Atomicity = .push, edits: Bool = false,
        _ body: @escaping @Sendable (Stages) throws -> Answer
    ) async throws -> Answer {
        let items = try pushes.map { edits in
            let request = PushRequest(
                push: Push(key: nil, atomicity: atomicity, edits: edits), form: .merge,
                sender: Sender(who: "", device: nil), purpose: .apply(nil),
                sent: SentRequest(address: "/v1/push", body: []))
            return PushItem(
                request, plan: try PushPlan(request.push), active: active, deadline: .now + .seconds(60))
        }
        let merging = PushMerging(
            engine: engine, limits: MergeLimits(), digest: { _, _, _ in [] }, form: { _, _, _ in [] },
            fence: CommitFence(), lengths: RecordLengths(), unreadable: UnreadableRecords(), clock: { nil })
        let result = try await engine.write(deadline: .now + .seconds(60)) { session throws(StoreError) in
            let batch = PushBatch(items)
            let counting = CountingSession(session)
            var mode = batch.isShared ? .shared : RunMode(batch.items[0])
            if edits { mode = mode.changed(by: .editByEdit) }
            let run = RunEnvironment(batch, merging, session: counting, mode: mode, waits: true)
            return .rollback(Result { try body(Stages(run: run, session: counting)) })
        }
        return try result.get()
    }
}

extension FactStore {
    /// Returns the row with a key, as a decision on a step finds it.
    mutating func row(
        _ key: RecordKey?, at place: SectionPlace, for step: PushPlan.Step, _ writer: inout ChangeWriter
    ) throws -> [Value]? {
        try decide(for: step, &writer) { facts throws(DecidingStop) in try facts.row(key, of: place, equated: false) }
    }
}

/// A session that counts its statements and refuses those named by a test.
final class CountingSession: StoreSession {
    private let session: any StoreSession
    private(set) var reads = 0
    private(set) var writes = 0
    /// The statements that wrote, in their order.
    private(set) var written: [String] = []
    /// The statements that followed a refused one without a rollback.
    private(set) var afterRefusal = 0
    private var isRefused = false

    init(_ session: any StoreSession) {
        self.session = session
    }

    var mustLockReads: Bool { session.mustLockReads }

    func query(_ statement: Statement) throws(StoreError) -> [[Value]] {
        reads += 1
        if isRefused { afterRefusal += 1 }
        return try session.query(statement)
    }

    func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows {
        try session.hashes(statement, keeping: columns)
    }

    func execute(_ statement: Statement) throws(StoreError) -> Execution {
        writes += 1
        written.append(statement.sql)
        if isRefused { afterRefusal += 1 }
        do throws(StoreError) {
            return try session.execute(statement)
        } catch {
            isRefused = true
            throw error
        }
    }

    func send(_ statement: Statement) -> Ticket {
        if statement.columns.isEmpty { writes += 1 } else { reads += 1 }
        if isRefused { afterRefusal += 1 }
        return session.send(statement)
    }

    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]] { try session.receive(ticket) }

    func set(_ savepoint: Savepoint) throws(StoreError) { try session.set(savepoint) }

    func rollBack(to savepoint: Savepoint) throws(StoreError) {
        try session.rollBack(to: savepoint)
        isRefused = false
    }

    func release(_ savepoint: Savepoint) throws(StoreError) { try session.release(savepoint) }
}

extension Value {
    static func word(_ text: String) -> Value { .text(ExactText(text)) }
}

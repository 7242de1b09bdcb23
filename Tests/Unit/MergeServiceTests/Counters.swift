import Foundation
import MergeCore
import MergeService
import RecordStore
import SQLiteStore

/// A database of one table of counters in a temporary file, rules that add to them, and a service that merges.
final class Counters: Sendable {
    enum Place: CaseIterable, Sendable {
        /// The journal is written in the merge's transaction.
        case together
        /// The journal has a separate store, which is written first.
        case ahead
    }

    let engine: FaultyEngine
    let service: MergeService
    let active: ActiveRules
    private let folder: URL
    private let journalEngine: any RecordEngine

    /// - Parameter whileAnswering: is done while an answer is made.
    init(
        _ place: Place, policy: ConflictPolicy = .clientWins, whileAnswering: @escaping @Sendable () -> Void = {}
    ) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "fm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "journal").path()
        if place == .together { _ = try SQLiteEngine(path: file, creates: true) }
        let database = try SQLiteEngine(
            path: folder.appending(path: "db").path(), creates: true, journal: place == .together ? file : nil)
        engine = FaultyEngine(database)
        try await Self.run(["CREATE TABLE counters (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)"], in: database)
        try await Self.run(["INSERT INTO counters VALUES (1, 5), (2, 5)"], in: database)
        let journal: Journal
        switch place {
        case .together:
            journal = Journal(
                tables: JournalTables(schema: JournalTables.attachedName, dialect: database.dialect), codec: Self.codec,
                together: engine)
        case .ahead:
            let store = try SQLiteEngine(path: file, creates: true)
            try store.claim()
            journal = Journal(
                tables: JournalTables(schema: "main", dialect: store.dialect), codec: Self.codec, ahead: store)
        }
        journalEngine = journal.engine
        try await journal.engine.write(deadline: .now + .seconds(60)) { session throws(StoreError) in
            for statement in journal.tables.creation { _ = try session.execute(statement) }
            _ = try session.execute(journal.tables.feed.begin("feed"))
            return .commit(())
        }
        let table = TableName(name: "counters")
        let schema = try await database.schema(of: [table], deadline: .now + .seconds(60))
        let catalog = Catalog(resources: [Self.resource(policy)].compactMap { $0 }, version: "v")
        active = ActiveRules(catalog: catalog, schema: schema, dialect: database.dialect, journal: journal)
        service = MergeService(
            engine: engine, digest: { _, _, _ in [] },
            form: { result, _, _ in
                whileAnswering()
                return Array("\(result.status)".utf8)
            }, clock: { nil })
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static let number = ColumnType.integer(-1_000_000...1_000_000)

    private static func resource(_ policy: ConflictPolicy) -> Resource? {
        let merge: Ruled<MergeFunction>? = policy == .reject ? nil : Ruled(.add)
        let section = Section(
            name: "counter", kind: .root,
            table: SectionTable(
                TableName(name: "counters"),
                columns: ["id", "n"].map { Column(name: $0, type: number, isNullable: false) }, keyCount: 1),
            fields: SectionFields(
                [Field(name: "n", column: 1)],
                groups: [Group(name: "n", fields: 0..<1, onConflict: Ruled(policy), merge: merge)]))
        return Resource(name: "counters", description: nil, sections: [section])
    }

    /// The number before and after the write, which is enough for recovery.
    private static let codec = JournalCodec(
        entry: { edit, _, _ in
            func number(_ shown: Shown?) -> String {
                if case .group(let values)? = shown, case .integer(let number)? = values.first {
                    "\(number)"
                } else {
                    ""
                }
            }
            let sides = edit.outcomes.first?.sides
            var id = ""
            if case .key(let key)? = edit.id, case .integer(let number)? = key.parts.first { id = "\(number)" }
            return Array("\(id) \(number(sides?.current)) \(number(sides?.written))".utf8)
        },
        key: { key, _ in "\(key.parts.count)" }, traces: { _, _, _, _ in EntryTraces(rows: [:]) },
        effects: { entry, _ in
            let numbers = String(decoding: entry, as: UTF8.self).split(separator: " ").compactMap { Int128($0) }
            guard numbers.count == 3 else { return [] }
            return [
                RowEffect(
                    RowEffect.Row(
                        record: RecordKey([.integer(numbers[0])]), section: 0, key: RecordKey([.integer(numbers[0])])),
                    before: [0: .plain(.integer(numbers[1]))], after: [0: .plain(.integer(numbers[2]))])
            ]
        })

    private static func run(_ statements: [String], in engine: any RecordEngine) async throws {
        try await engine.write(deadline: .now + .seconds(60)) { session throws(StoreError) in
            for sql in statements { _ = try session.execute(Statement(sql: sql, binds: [])) }
            return .commit(())
        }
    }

    // MARK: Pushes

    /// Adds to a counter, or sets it if the base differs from the current value.
    func add(
        _ delta: Int, to id: Int = 1, base: Int = 5, key: String? = nil, effects: [SingleEffect] = [],
        isPreview: Bool = false, caller: Caller = Caller()
    ) async throws(Failure) -> PushAnswer {
        let pushKey = key.map { PushKey(text: $0, name: Array($0.utf8), request: Array("\(delta) \(id)".utf8)) }
        let resource = active.catalog.resources[0]
        func values(_ number: Int) -> FieldValues { FieldValues(fields: [0], values: [.integer(Int128(number))]) }
        let group = GroupEdit(
            group: 0, base: .values(values(base)), edited: values(base + delta), path: WirePath("n"), isRowForm: false)
        let rowID = RowID(RecordKey([.integer(Int128(id))]))
        let row = RowEdit(section: 0, id: rowID, action: .edit([group]), path: WirePath("counter"))
        let reversals = effects.compactMap { effect in
            if case .undo(_, let outcome) = effect {
                Reversal(outcome: outcome, section: 0, item: nil, aim: .group(0))
            } else {
                nil
            }
        }
        let edit = Edit(resource: resource, id: rowID, rows: [row], path: WirePath("edits"), reversals: reversals)
        let purpose: PushPurpose =
            isPreview ? .preview : pushKey.flatMap { effects.isEmpty ? nil : .once($0, effects) } ?? .apply(pushKey)
        let deadline = ContinuousClock.now + .seconds(60)
        let request = PushRequest(
            push: Push(key: key, atomicity: .push, edits: [edit]), form: .merge, sender: Sender(who: "", device: nil),
            purpose: purpose, sent: SentRequest(address: "/v1/push", body: []), caller: caller)
        return try await service.keyed.answer(under: request.key, active: active, deadline: deadline) {
            () async throws(Failure) in
            try await service.merge(request, active: active, deadline: deadline)
        }
    }

    /// The fate of a push: its status, “again” for an answer that was kept, or the code of its failure.
    func outcome(_ body: () async throws(Failure) -> PushAnswer) async -> String {
        do throws(Failure) {
            let answer = try await body()
            return answer.isReplay ? "again" : String(decoding: answer.body, as: UTF8.self)
        } catch {
            return error.problem.code.rawValue
        }
    }

    // MARK: Current values

    private static let count = Column(name: "n", type: number, isNullable: false)

    func number(_ id: Int = 1) async throws -> Int {
        try await Self.number("SELECT n FROM counters WHERE id = \(id)", in: engine)
    }

    /// The number of journal entries that match a condition.
    func entries(_ condition: String = "1 = 1") async throws -> Int {
        let table = engine.dialect.quoted(try tables.entries)
        return try await Self.number("SELECT count(*) FROM \(table) WHERE \(condition)", in: journalEngine)
    }

    private var tables: JournalTables {
        get throws {
            guard let journal = active.journal else { throw StoreError(.other, "there is no journal") }
            return journal.tables
        }
    }

    private static func number(_ sql: String, in engine: any RecordEngine) async throws -> Int {
        let rows = try await engine.read(deadline: .now + .seconds(60)) { session throws(StoreError) in
            try session.query(Statement(sql: sql, binds: [], columns: [count]))
        }
        guard case .integer(let number)? = rows.first?.first else { return -1 }
        return Int(number)
    }
}

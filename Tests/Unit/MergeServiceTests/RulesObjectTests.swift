import MergeCore
import RecordStore
import Testing

@testable import MergeService

/// A batch runs under one `ActiveRules` object: two readings of the same rules never share a transaction.
@Suite struct RulesObjectTests {
    private static let table = TableName(name: "orders")

    /// Rules that are equal at each reading.
    fileprivate static func reading() throws -> ActiveRules {
        let section = Section(
            name: "order", kind: .root,
            table: SectionTable(
                table,
                columns: [
                    Column(name: "id", type: .integer(0...1_000), isNullable: false),
                    Column(name: "state", type: .text(TextType()), isNullable: false),
                ], keyCount: 1),
            fields: SectionFields(
                [Field(name: "state", column: 1)],
                groups: [Group(name: "state", fields: 0..<1, onConflict: Ruled(.clientWins), merge: nil)]))
        let resource = try #require(Resource(name: "orders", description: nil, sections: [section]))
        let schema = TableSchema(
            name: table, storage: StorageEngine("SQLite", isTransactional: true), columns: [],
            constraints: TableConstraints(primaryKey: ["id"]))
        return ActiveRules(
            catalog: Catalog(resources: [resource], version: "v"),
            schema: DatabaseSchema(tables: [table: schema], allNames: [table.name]), dialect: StubEngine().dialect)
    }

    /// A push of one edit of an order.
    fileprivate static func push(_ id: Int, under active: ActiveRules) throws -> PushItem {
        let values = { (text: String) in FieldValues(fields: [0], values: [.text(ExactText(text))]) }
        let group = GroupEdit(
            group: 0, base: .values(values("new")), edited: values("paid"), path: WirePath("state"), isRowForm: false)
        let rowID = RowID(RecordKey([.integer(Int128(id))]))
        let row = RowEdit(section: 0, id: rowID, action: .edit([group]), path: WirePath("order"))
        let edit = Edit(resource: active.catalog.resources[0], id: rowID, rows: [row], path: WirePath("edits"))
        let request = PushRequest(
            push: Push(key: nil, atomicity: .push, edits: [edit]), form: .merge,
            sender: Sender(who: "", device: nil), purpose: .apply(nil),
            sent: SentRequest(address: "/v1/push", body: []))
        return PushItem(
            request, plan: try PushPlan(request.push), active: active, deadline: .now + .seconds(60))
    }

    @Test("Pushes under one rules object share a transaction")
    func oneObject() throws {
        let active = try Self.reading()
        let first = try #require(QueuedPush(Self.push(1, under: active)))
        let second = try #require(QueuedPush(Self.push(2, under: active)))
        #expect(second.goes(with: first))
        #expect(PushBatch([first.push, second.push]).active === active)
    }

    @Test("Pushes under two readings of the same rules never share a transaction")
    func twoReadings() throws {
        let first = try #require(QueuedPush(Self.push(1, under: Self.reading())))
        let second = try #require(QueuedPush(Self.push(2, under: Self.reading())))
        #expect(!second.goes(with: first) && !first.goes(with: second))
    }

    #if !canImport(Darwin) || os(macOS)
        @Test("A batch of pushes under two rules objects is a broken invariant")
        func mixedBatch() async {
            await #expect(processExitsWith: .failure) {
                let items = [try RulesObjectTests.push(1, under: RulesObjectTests.reading())]
                _ = PushBatch(items + [try RulesObjectTests.push(2, under: RulesObjectTests.reading())])
            }
        }
    #endif
}

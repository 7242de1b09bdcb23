import MergeCore
import Testing

@testable import Operations

/// After a restore, operators compare rows that several sections have changed.
@Suite struct SharedRowsTests {
    private static let number = ColumnType.integer(0...100)

    private static func resource(_ name: String, table: String = "lines", key: [String] = ["id"]) -> Resource {
        let columns = (key + ["n"]).map { Column(name: $0, type: number, isNullable: false) }
        let section = Section(
            name: name, kind: .root,
            table: SectionTable(TableName(name: table), columns: columns, keyCount: key.count),
            fields: SectionFields(
                [Field(name: "n", column: key.count)],
                groups: [Group(name: "n", fields: 0..<1, onConflict: Ruled(.clientWins))]))
        guard let resource = Resource(name: name, description: nil, sections: [section]) else {
            preconditionFailure("The resource of the test is valid.")
        }
        return resource
    }

    private static func name(_ resource: Resource, _ key: Int128) -> SharedRows.Name {
        let key = RecordKey([.integer(key)])
        return SharedRows.Name(resource: resource, row: RowEffect.Row(record: key, section: 0, key: key))
    }

    private static func shared(_ names: [SharedRows.Name]) -> [Bool] {
        let shared = SharedRows(among: names)
        return names.map { shared.contains($0) }
    }

    @Test("A row is shared if two resources changed it")
    func oneRow() {
        let (a, b) = (Self.resource("a"), Self.resource("b"))
        let names = [Self.name(a, 1), Self.name(a, 2), Self.name(b, 1), Self.name(b, 3)]
        #expect(Self.shared(names) == [true, false, true, false])
    }

    @Test("If the resources have different keys, all rows of the table are shared")
    func otherKey() {
        let (a, b) = (Self.resource("a"), Self.resource("b", key: ["code"]))
        let other = Self.resource("c", table: "orders")
        let names = [Self.name(a, 1), Self.name(b, 2), Self.name(other, 1)]
        #expect(Self.shared(names) == [true, true, false])
    }

    @Test("Rows of one resource are never shared")
    func oneResource() {
        let a = Self.resource("a")
        let names = [Self.name(a, 1), Self.name(a, 2)]
        #expect(Self.shared(names) == [false, false])
    }
}

import MergeCore
import Testing

@testable import MergeService

/// Rows of long lists are found without looking through the list for each.
@Suite struct RecordRowsTests {
    private static func resource() throws -> Resource {
        let number = ColumnType.integer(0...1_000_000)
        func section(_ name: String, _ kind: SectionKind) -> Section {
            Section(
                name: name, kind: kind,
                table: SectionTable(
                    TableName(name: name),
                    columns: ["id", "a"].map { Column(name: $0, type: number, isNullable: false) }, keyCount: 1),
                fields: SectionFields(
                    [Field(name: "a", column: 1)],
                    groups: [Group(name: "a", fields: 0..<1, onConflict: Ruled(.clientWins))]))
        }
        return try #require(
            Resource(name: "r", description: nil, sections: [section("root", .root), section("list", .list)]))
    }

    @Test("Each row is read once", arguments: [3, 1_000, 10_000])
    func reads(_ count: Int) throws {
        let resource = try Self.resource()
        let rows = (0..<count).map { [Value.integer(Int128($0)), .integer(Int128($0 * 2 % 1_000_000))] }
        var found = RecordRows(
            Record(key: RecordKey([.integer(1)]), sections: [.one([.integer(1), .integer(2)]), .many(rows)]), resource)
        for number in 0..<count {
            #expect(found.row(1, RecordKey([.integer(Int128(number))])) == rows[number])
        }
        #expect(found.row(1, RecordKey([.integer(Int128(count))])) == nil)
        #expect(found.row(1, nil) == nil && found.row(0, nil) == [.integer(1), .integer(2)])
        #expect(found.keysRead <= max(count, 16), "\(found.keysRead) keys for \(count) rows")
    }
}

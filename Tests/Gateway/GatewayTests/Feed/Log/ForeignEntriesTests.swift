import MergeCore
import RecordStore
import Testing

@testable import ChangeFeed

/// The journal entries of rows that other programs changed.
@Suite struct ForeignEntriesTests {
    private static let number = ColumnType.integer(-1_000...1_000)
    private static func number(_ name: String) -> Column { Column(name: name, type: number, isNullable: true) }
    private static func text(_ name: String) -> Column {
        Column(name: name, type: .text(TextType()), isNullable: true)
    }

    /// Orders with a group of one field and one of two, and lines.
    private static let resource: Resource? = {
        func group(_ name: String, _ fields: Range<Int>) -> Group {
            Group(name: name, fields: fields, onConflict: Ruled(.clientWins))
        }
        let order = Section(
            name: "order", kind: .root,
            table: SectionTable(
                TableName(name: "orders"), columns: [number("id"), text("state"), text("street"), text("city")],
                keyCount: 1),
            fields: SectionFields(
                [
                    Field(name: "state", column: 1), Field(name: "street", column: 2), Field(name: "city", column: 3),
                ], groups: [group("state", 0..<1), group("address", 1..<3)], readOnly: []))
        let lines = Section(
            name: "lines", kind: .list,
            table: SectionTable(
                TableName(name: "lines"), columns: [number("id"), number("order_id"), text("article")], keyCount: 1,
                parent: [ParentLink(column: 1, rootColumn: 0)]),
            fields: SectionFields(
                [Field(name: "article", column: 2)], groups: [group("article", 0..<1)], readOnly: []))
        return Resource(name: "orders", description: nil, sections: [order, lines])
    }()

    private static func unit(_ section: Int) throws -> ScanUnit {
        let resource = try #require(resource)
        return try #require(ScanUnit(resource, resource.sections[section]))
    }

    /// A row with its key and its record before and after a change; nil if there is none.
    private typealias Side = (key: Int128, record: Int128, texts: [String?])

    private static func row(
        _ section: Int, _ before: Side?, _ after: Side?, in transaction: Int = 0, undecoded: Set<Int> = []
    ) -> ForeignEntries.ChangedRow {
        func values(_ side: Side?) -> [Value?]? {
            side.map { side in
                [.integer(side.key)] + (section == 0 ? [] : [.integer(side.record)])
                    + side.texts.map { text in text.map { .text(ExactText($0)) } }
            }
        }
        func place(_ side: Side?) -> (key: RecordKey, records: [RecordKey])? {
            side.map { (RecordKey([.integer($0.key)]), [RecordKey([.integer($0.record)])]) }
        }
        return ForeignEntries.ChangedRow(
            images: RowImages(
                transaction: transaction, before: values(before), after: values(after), undecoded: undecoded,
                restored: []),
            former: place(before), now: place(after))
    }

    /// The entries as text, such as `1: applied order.state a>b`.
    private static func texts(_ rows: [(section: Int, row: ForeignEntries.ChangedRow)]) throws -> [String] {
        var entries = ForeignEntries()
        for (section, row) in rows { entries.add(row, of: try unit(section)) }
        return entries.results.map { edit in
            guard case .key(let record)? = edit.id else { return "no record" }
            return text(record) + ": " + edit.outcomes.map { text($0, edit.resource) }.joined(separator: "; ")
        }
    }

    private static func text(_ key: RecordKey) -> String { key.parts.map { text($0) }.joined() }

    private static func text(_ value: Value) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .text(let text): text.string
        default: "\(value)"
        }
    }

    private static func text(_ outcome: Outcome, _ resource: Resource) -> String {
        let section = resource.sections[outcome.section]
        var text = outcome.kind.rawValue + " " + section.name
        if case .key(let item)? = outcome.item { text += "[\(Self.text(item))]" }
        if let group = outcome.group { text += "." + section.groups[group].name }
        if let sides = outcome.sides { text += " " + Self.text(sides.current) + ">" + Self.text(sides.written) }
        if !outcome.unlogged.isEmpty { text += " without " + outcome.unlogged.joined(separator: ",") }
        return text
    }

    private static func text(_ side: Shown) -> String {
        switch side {
        case .group(let values), .fields(_, let values), .row(let values):
            values.map { text($0) }.joined(separator: ",")
        case .null, .digest: ""
        }
    }

    @Test("An update names the changed groups, with all of their values")
    func update() throws {
        let row = Self.row(0, (1, 1, ["a", "s", "c"]), (1, 1, ["a", "s", "d"]))
        #expect(try Self.texts([(0, row)]) == ["1: applied order.address s,c>s,d"])
        let none = Self.row(0, (1, 1, ["a", "s", "c"]), (1, 1, ["a", "s", "c"]))
        #expect(try Self.texts([(0, none)]).isEmpty)
    }

    @Test("A value that the log lacks is named, and never guessed")
    func unloggedValues() throws {
        let minimal = Self.row(0, (1, 1, [nil, nil, nil]), (1, 1, [nil, nil, "d"]))
        #expect(try Self.texts([(0, minimal)]) == ["1: applied order.address without street,city"])
        let undecoded = Self.row(0, (1, 1, [nil, "s", "c"]), (1, 1, [nil, "s", "c"]), undecoded: [1])
        #expect(try Self.texts([(0, undecoded)]) == ["1: applied order.state without state"])
        let same = Self.row(0, (1, 1, [nil, "s", "c"]), (1, 1, [nil, "t", "c"]))
        #expect(try Self.texts([(0, same)]) == ["1: applied order.address s,c>t,c"])
        let inserted = Self.row(0, nil, (1, 1, ["a", nil, "c"]))
        #expect(try Self.texts([(0, inserted)]) == ["1: inserted order >a,c without street"])
        let deleted = Self.row(0, (1, 1, ["a", nil, "c"]), nil)
        #expect(try Self.texts([(0, deleted)]) == ["1: deleted order a,c> without street"])
    }

    @Test("A row that moves or gets another key is deleted there and inserted here")
    func movedRow() throws {
        let moved = Self.row(1, (5, 1, ["x"]), (5, 2, ["y"]))
        #expect(try Self.texts([(1, moved)]) == ["1: deleted lines[5] x>", "2: inserted lines[5] >y"])
        let renumbered = Self.row(1, (5, 1, ["x"]), (6, 1, ["x"]))
        #expect(try Self.texts([(1, renumbered)]) == ["1: deleted lines[5] x>; inserted lines[6] >x"])
    }

    @Test("An entry contains the rows of one record and one transaction, the record first and each row once")
    func entries() throws {
        let line = Self.row(1, (5, 1, ["x"]), (5, 1, ["y"]))
        let order = Self.row(0, (1, 1, ["a", "s", "c"]), (1, 1, ["b", "s", "c"]))
        #expect(
            try Self.texts([(1, line), (0, order)])
                == ["1: applied order.state a>b; applied lines[5].article x>y"])
        let again = Self.row(1, (5, 1, ["y"]), (5, 1, ["z"]))
        #expect(
            try Self.texts([(1, line), (1, again)])
                == ["1: applied lines[5].article x>y", "1: applied lines[5].article y>z"])
        let later = Self.row(1, (6, 1, ["x"]), nil, in: 1)
        #expect(
            try Self.texts([(1, line), (1, later)]) == ["1: applied lines[5].article x>y", "1: deleted lines[6] x>"])
    }
}

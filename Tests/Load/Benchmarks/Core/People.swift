import MergeCore

/// The resource that all benchmarks use: a table of twelve columns, and an address of three fields as one group.
enum People {
    /// The address is the third group.
    static let addressGroup = 2
    private static let addressColumns = 3

    static func section(onConflict policy: ConflictPolicy = .clientWins, merge: MergeFunction? = nil) -> Section {
        let columns: [(String, ColumnType, Bool)] = [
            ("id", .integer(Int128(Int32.min)...Int128(Int32.max)), false),
            ("first_name", text(40), false), ("last_name", text(40), false), ("street", text(80), false),
            ("county", text(40), false), ("post_code", text(12), false), ("phone", text(20), true),
            ("credit_limit", .decimal(precision: 10, scale: 2, isUnsigned: false), false), ("birthday", .date, true),
            ("wants_news", .boolean, false), ("note", .text(TextType(maximumBytes: 65_535)), true),
            ("modified_at", .timestamp(fraction: 0, nil), false),
        ]
        let fields = [
            "firstName", "lastName", "street", "county", "postCode", "phone", "creditLimit", "birthday", "wantsNews",
            "note",
        ]
        let groups: [(String, Range<Int>)] = [
            ("firstName", 0..<1), ("lastName", 1..<2), ("address", 2..<5), ("phone", 5..<6), ("creditLimit", 6..<7),
            ("birthday", 7..<8), ("wantsNews", 8..<9), ("note", 9..<10),
        ]
        return Section(
            name: "person", kind: .root,
            table: SectionTable(
                TableName(name: "people"), columns: columns.map { Column(name: $0, type: $1, isNullable: $2) },
                keyCount: 1, generatedKeyColumn: 0),
            fields: SectionFields(
                fields.enumerated().map { Field(name: $1, column: $0 + 1) },
                groups: groups.map {
                    Group(name: $0, fields: $1, onConflict: Ruled(policy), merge: merge.map { Ruled($0) })
                }, readOnly: [Field(name: "modified", column: 11)]))
    }

    static let resource = Resource(name: "people", description: nil, sections: [section()])
    static let catalog = Catalog(resources: resource.map { [$0] } ?? [], version: "1")

    private static func text(_ characters: Int) -> ColumnType { .text(TextType(maximumCharacters: characters)) }

    // MARK: Values

    static func address(_ version: Int) -> [Value] {
        ["\(version) High Street", "County \(version % 97)", "CT\(version % 89) 1AA"].map { .text(ExactText($0)) }
    }

    static func row(_ id: Int, version: Int) -> [Value] {
        let names: [Value] = [.integer(Int128(id)), .text(ExactText("Name1")), .text(ExactText("Family\(id)"))]
        let rest: [Value] = [
            .text(ExactText("+44 20 1000001")), .decimal(ExactDecimal(Int128(id % 1_000))),
            CalendarDate(year: 1970, month: 2, day: 3).map { .date($0) } ?? .null, .boolean(true), .null,
            CalendarDate(year: 2026, month: 11, day: 20).flatMap { DateTime(date: $0, microseconds: 0) }
                .map { .dateTime($0) } ?? .null,
        ]
        return names + address(version) + rest
    }

    // MARK: Bodies

    /// A push of single-group edits, as the load generator sends it.
    static func push(rows: Int) -> [UInt8] {
        let edits = (1...rows).map { id in
            #"{"resource":"people","id":\#(id),"changeset":"#
                + #"{"person":{"address":{"old":\#(json(1)),"new":\#(json(2))}}}}"#
        }
        return Array(#"{"key":"bench-1-1","edits":[\#(edits.joined(separator: ","))]}"#.utf8)
    }

    private static func json(_ version: Int) -> String {
        #"{"street":"\#(version) High Street","county":"County \#(version % 97)","postCode":"CT\#(version % 89) 1AA"}"#
    }
}

import MergeCore
import RecordStore
import RuleFiles
import Testing

/// Rules bound without a database: the types come from the rules, the merge functions and samples.
@Suite struct OfflineSchemaTests {
    private static let wide = ColumnType.integer(Int128(Int64.min)...Int128(Int64.max))
    private static let text = ColumnType.text(TextType())
    private static let set = ColumnType.delimitedSet(separator: ",", TextType())
    private static let json = ColumnType.json(TextType())

    private static func decimal(_ scale: Int) -> ColumnType {
        .decimal(precision: 65, scale: scale, isUnsigned: false)
    }

    private static func bind(
        _ files: [String], samples: [Scalar] = []
    ) throws -> (catalog: Catalog, schema: DatabaseSchema) {
        let folder = RuleFolder(texts: files.enumerated().map { ("\($0).yaml", $1) })
        let schema = OfflineSchema.make(for: folder, resource: "things", samples: samples)
        let (catalog, findings) = RuleBinder.bind(folder, to: schema)
        #expect(!findings.hasErrors, "\(findings.sorted)")
        return (try #require(catalog), schema)
    }

    private static func thing(_ groups: String, _ rest: String = "") -> String {
        "resource: things\nsections:\n  thing:\n    table: things\n    groups: {\(groups)}\n" + rest
    }

    private static func record(_ members: (String, Scalar)...) -> Scalar {
        .object([
            ScalarMember(
                name: "thing", value: .object(members.map { ScalarMember(name: $0.0, value: $0.1) }))
        ])
    }

    /// The type of one column of which each sample is another record's value.
    private static func type(_ group: String, _ samples: Scalar...) throws -> ColumnType {
        let records = samples.map { record(("a", $0)) }
        let root = try #require(try bind([thing("a: \(group)")], samples: records).catalog["things"]?.root)
        return root.type(ofField: 0)
    }

    @Test("A list that the gateway numbers needs no key in the rules")
    func numbered() throws {
        let list = "  lines: {list: true, table: lines, parent: {thing: id}, number: next, groups: {b: b}}\n"
        #expect(try Self.bind([Self.thing("a: a", list)]).catalog["things"]?.sections.count == 2)
    }

    @Test("add needs numbers")
    func addition() throws {
        let add = "{column: a, merge: add}"
        #expect(try Self.type(add) == Self.wide)
        #expect(try Self.type(add, .null, .integer(3), .integer(-4)) == Self.wide)
        #expect(try Self.type(add, .integer(3), .text("12.50")) == Self.decimal(2))
        #expect(try Self.type(add, .text("12"), .text("-1")) == Self.decimal(0))
        let number = try #require(ExactDecimal("0.125"))
        #expect(try Self.type(add, .number(number), .text("1.50")) == Self.decimal(3))
        #expect(try Self.type(add, .text("18446744073709551615")) == .integer(0...Int128(UInt64.max)))
        #expect(try Self.type(add, .text("many")) == Self.decimal(0))
        #expect(try Self.type(add, .text("1e70")) == .double(isUnsigned: false))
    }

    @Test("Samples decide ordered types")
    func orderedTypes() throws {
        let most = "{column: a, merge: max}"
        #expect(try Self.type(most) == Self.text)
        #expect(try Self.type(most, .integer(1)) == Self.wide)
        #expect(try Self.type(most, .text("1.5"), .integer(1)) == Self.decimal(1))
        #expect(try Self.type(most, .text("2026-11-20"), .null) == .date)
        #expect(
            try Self.type(most, .text("2026-11-20T10:00:00"), .text("2026-11-20 10:00:00.250"))
                == .dateTime(fraction: 3))
        #expect(try Self.type(most, .text("2026-11-20T10:00:00Z")) == .timestamp(fraction: 0, nil))
        #expect(try Self.type(most, .text("10:00:00.5")) == .time(fraction: 1))
        #expect(try Self.type(most, .text("2026-11-20"), .text("soon")) == Self.text)
        #expect(try Self.type(most, .boolean(true)) == .boolean)
    }

    @Test("Sets, texts and JSON have their functions")
    func setsTextsJSON() throws {
        let set = "{column: a, merge: set}"
        #expect(try Self.type(set) == Self.set)
        #expect(try Self.type(set, .text("a,b")) == Self.set)
        #expect(try Self.type(set, .array([.text("a")])) == Self.json)
        let split = "{column: a, type: set, separator: \"|\", merge: set}"
        #expect(try Self.type(split, .array([.text("a")])) == .delimitedSet(separator: "|", TextType()))
        #expect(try Self.type("{column: a, merge: text}", .integer(1)) == Self.text)
        #expect(try Self.type("{column: a, merge: json}", .text("a")) == Self.json)
        #expect(try Self.type("{column: a, merge: {json: id}}") == Self.json)
    }

    @Test("latest needs a time")
    func latest() throws {
        let rules = Self.thing("g: {fields: {a: a, at: seen_at}, merge: {latest: at}}")
        for (sample, type) in [
            (Scalar.null, ColumnType.dateTime(fraction: 0)), (.text("2026-11-20"), .date),
            (.text("2026-11-20T10:00:00.12Z"), .timestamp(fraction: 2, nil)),
        ] {
            let samples = [Self.record(("a", .integer(1)), ("at", sample))]
            let root = try #require(try Self.bind([rules], samples: samples).catalog["things"]?.root)
            #expect(root.type(ofField: 1) == type)
            #expect(root.type(ofField: 0) == Self.wide)
        }
    }

    @Test("Without a function the sample decides the type")
    func noFunction() throws {
        #expect(try Self.type("a") == Self.text)
        #expect(try Self.type("a", .integer(1), .null) == Self.wide)
        #expect(try Self.type("a", .boolean(true), .integer(0)) == .boolean)
        #expect(try Self.type("a", .text("12.50")) == Self.text)
        #expect(try Self.type("a", .text("12.50"), .integer(3)) == Self.decimal(2))
        #expect(try Self.type("a", .text("2026-11-20")) == Self.text)
        #expect(try Self.type("a", .integer(1), .text("one")) == Self.text)
        #expect(try Self.type("a", .array([])) == Self.json)
        #expect(try Self.type("a", .object([]), .text("x")) == Self.json)
    }

    @Test(
        "Each type can be named",
        arguments: [
            "boolean", "set", "text", "integer", "decimal", "json", "float", "double", "enum", "date", "datetime",
            "timestamp", "time", "year", "bit", "binary", "uuid", "inet4", "inet6",
        ])
    func namedTypes(_ name: String) throws {
        #expect(try Self.type("{column: a, type: \(name)}").name == name)
    }

    @Test("Samples decide the limits of named types")
    func limits() throws {
        #expect(try Self.type("{column: a, type: decimal}", .text("1.250")) == Self.decimal(3))
        #expect(try Self.type("{column: a, type: datetime}", .text("2026-11-20T10:00:00.10")) == .dateTime(fraction: 2))
        #expect(
            try Self.type("{column: a, type: enum}", .text("s"), .text("m"), .text("s"))
                == .enumeration([ExactText("s"), ExactText("m")]))
    }

    @Test("Keys are those of the rules or of the ids")
    func keys() throws {
        func root(_ rules: String, _ id: Scalar) throws -> Section {
            let sample = Scalar.object([ScalarMember(name: "id", value: id)])
            return try #require(try Self.bind([rules], samples: [sample]).catalog["things"]?.root)
        }
        let one = try root(Self.thing("a: a"), .integer(7))
        #expect(one.columns.prefix(one.keyCount).map(\.name) == ["id"] && one.columns[0].type == Self.wide)
        let two = try root(Self.thing("a: id_2"), .array([.text("A"), .integer(7)]))
        #expect(two.columns.prefix(two.keyCount).map(\.type) == [Self.text, Self.wide])
        // A column that clients write is not the key.
        let other = try root(Self.thing("a: id"), .text("A"))
        #expect(other.keyCount == 1 && other.columns[0].name != "id")
        let named = try root(Self.thing("a: a").replacing("table:", with: "key: [x, y]\n    table:"), .integer(1))
        #expect(named.columns.prefix(named.keyCount).map(\.name) == ["x", "y"])
        let temporary = try root(Self.thing("a: a"), .text("tmp:1"))
        #expect(temporary.columns[0].type == Self.text)
    }

    @Test("All columns that rules name exist")
    func columns() throws {
        let rest = """
                identity: [a]
                where: "gone = 0"
                delete: {set: {gone: 1}}
                read-only: {changed: {column: changed_at, type: timestamp}}
                checks: [{name: c, sql: "a > 1", fields: [a]}]
              parts:
                list: true
                table: parts
                parent: thing_id
                order: [place]
                groups: {b: {column: b, references: others}}
              extra:
                table: extras
                parent: {thing_no: number}
                groups: {c: c}

            """
        let other =
            "resource: others\nsections:\n  other:\n    table: parts\n    key: part_id\n    groups: {p: place}\n"
        let record = Scalar.object([
            ScalarMember(name: "id", value: .integer(1)),
            ScalarMember(
                name: "parts",
                value: .array([.object([ScalarMember(name: "id", value: .array([.integer(1), .integer(2)]))])])),
        ])
        let (catalog, schema) = try Self.bind([Self.thing("a: a", rest), other], samples: [record])
        let resource = try #require(catalog["things"])
        #expect(resource.sections.map(\.keyCount) == [1, 2, 1])
        #expect(resource.sections.dropFirst().allSatisfy { $0.parent.count == 1 })
        #expect(schema.tables.count == 3)
        #expect(schema.tables[TableName(name: "things")]?.column("number") != nil)
        #expect(catalog["others"]?.root.keyCount == 1)
    }

    @Test("Errors of the rules remain errors")
    func errors() {
        let folder = RuleFolder(texts: [
            ("f.yaml", Self.thing("a: {column: a, type: boolean, merge: add}, b: {fields: {x: x, y: y}, merge: text}"))
        ])
        let schema = OfflineSchema.make(for: folder, resource: "things", samples: [])
        let errors = RuleBinder.bind(folder, to: schema).findings.sorted.filter { $0.severity == .error }
        #expect(errors.count == 2, "\(errors)")
    }
}

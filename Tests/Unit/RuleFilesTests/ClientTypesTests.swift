import Foundation
import TestSupport
import Testing

@testable import RuleFiles

/// The types of clients, made of an answer of `GET /v1/rules`.
@Suite struct ClientTypesTests {
    /// The rules of resources with one root section each.
    private static func rules(_ resources: (name: String, fields: String)...) -> String {
        let described = resources.map { name, fields in
            """
            {"resource":"\(name)","sections":[{"section":"row","kind":"root","key":[{"column":"id","type":"integer",\
            "generated":true}],"groups":[{"group":"g","fields":[\(fields)]}],"readOnly":[]}]}
            """
        }
        return #"{"version":"1","resources":[\#(described.joined(separator: ","))]}"#
    }

    private static let text = #"{"field":"a","type":"text","nullable":false}"#

    private static func text(
        _ language: ClientLanguage, _ fields: String, names: [String: String] = [:]
    ) throws -> String {
        try ClientTypes.text(of: rules(("things", fields)), in: language, names: names)
    }

    @Test("The files of the clients' tests are those of the shared rules", arguments: ClientLanguage.allCases)
    func files(_ language: ClientLanguage) throws {
        let cases = try Data(contentsOf: URL(filePath: Repository.root + "Tests/Clients/Cases/model.json"))
        let model = try #require(try JSONSerialization.jsonObject(with: cases) as? [String: Any])
        let rules = try JSONSerialization.data(withJSONObject: try #require(model["rules"]))
        let written = try ClientTypes.text(of: String(decoding: rules, as: UTF8.self), in: language)
        let file =
            switch language {
            case .typescript: "Tests/Clients/JavaScript/model-types.ts"
            case .swift: "Tests/Clients/Swift/Typed/ModelTypes.swift"
            case .python: "Tests/Clients/Python/model_types.py"
            }
        let stored = try String(contentsOf: URL(filePath: Repository.root + file), encoding: .utf8)
        #expect(written == stored, "\(file) is another one")
    }

    @Test("Two resources with one type name are an error with both names", arguments: ClientLanguage.allCases)
    func oneType(_ language: ClientLanguage) throws {
        let rules = Self.rules(("order", Self.text), ("orders", Self.text))
        #expect(throws: ClientTypesFault.sameName("Orders", first: "order", second: "orders")) {
            // “order” is named like the plural of another resource here.
            _ = try ClientTypes.text(of: rules, in: language, names: ["order": "orders"])
        }
        #expect(throws: ClientTypesFault.sameName("Order", first: "order", second: "orders")) {
            _ = try ClientTypes.text(of: rules, in: language)
        }
        let text = try ClientTypes.text(of: rules, in: language, names: ["orders": "purchases"])
        #expect(text.contains("Purchase") && text.contains("OrderRecord"))
    }

    @Test("A name for an unknown resource, and an answer of something else, are errors")
    func faults() {
        #expect(throws: ClientTypesFault.unknownResource("thing", known: ["things"])) {
            _ = try Self.text(.swift, Self.text, names: ["thing": "x"])
        }
        for answer in ["", "[]", "{}", #"{"resources":[{}]}"#, #"{"resources":[{"resource":"a","sections":[]}]}"#] {
            #expect(throws: ClientTypesFault.notRules) { _ = try ClientTypes.text(of: answer, in: .python) }
        }
        #expect(ClientTypesFault.unknownResource("thing", known: ["things"]).description.contains("“things”"))
    }

    @Test("A list of one resource and a resource of the same name have two types")
    func listAndResource() throws {
        let lines = """
            {"section":"lines","kind":"list","key":[{"column":"id","type":"integer"}],"groups":[],"readOnly":[]}
            """
        let rules = """
            {"resources":[{"resource":"orders","sections":[{"section":"order","kind":"root","groups":[],"readOnly":[]},\(lines)]},
            {"resource":"order-lines","sections":[{"section":"line","kind":"root","groups":[],"readOnly":[]}]}]}
            """
        let text = try ClientTypes.text(of: rules, in: .typescript)
        #expect(
            text.contains("interface OrderLineRow {")
                && text.contains(#"interface OrderLine extends TypedRecord<"order-lines">"#))
    }

    @Test("Words of a language and names with other characters become separate properties")
    func words() throws {
        let names = ["class", "from", "self", "int", "post-code", "postCode", "2nd", "__init__", "Größe", "%"]
        let fields = names.map { #"{"field":"\#($0)","type":"text","nullable":true}"# }.joined(separator: ",")
        let swift = try Self.text(.swift, fields)
        for line in [
            "public var `class`: String?", "public var self_: String?", "case postCode = \"post-code\"",
            "case postCode_ = \"postCode\"", "case value2nd = \"2nd\"", "case value = \"%\"",
        ] { #expect(swift.contains(line), "\(line) in \(swift)") }
        let python = try Self.text(.python, fields)
        for line in ["class_: str | None", "from_: str | None", "int_: str | None", #""init": ("__init__", None"#] {
            #expect(python.contains(line), "\(line) in \(python)")
        }
        let typescript = try Self.text(.typescript, fields)
        for line in ["  class: string | null;", #"  "post-code": string | null;"#, #"  "2nd": string | null;"#] {
            #expect(typescript.contains(line), "\(line) in \(typescript)")
        }
    }

    @Test(
        "Each column type has a type in each language",
        arguments: [
            (#""type":"boolean""#, "boolean", "Bool", "bool"),
            (#""type":"integer","minimum":0,"maximum":255"#, "number", "Int", "int"),
            (
                #""type":"integer","minimum":"-9223372036854775808","maximum":"9223372036854775807""#,
                "number | string", "Int", "int"
            ),
            (#""type":"integer","minimum":0,"maximum":"18446744073709551615""#, "number | string", "UInt64", "int"),
            (#""type":"bit","bits":53"#, "number", "Int", "int"),
            (#""type":"bit","bits":64"#, "number | string", "UInt64", "int"),
            (#""type":"year""#, "number", "Int", "int"), (#""type":"double""#, "number", "Double", "float"),
            (#""type":"decimal","precision":38,"scale":2"#, "Decimal", "Decimal", "Decimal"),
            (#""type":"decimal","precision":39,"scale":2"#, "Decimal", "String", "Decimal"),
            (#""type":"decimal","scale":2"#, "Decimal", "Decimal", "Decimal"),
            (#""type":"text""#, "string", "String", "str"),
            (#""type":"uuid""#, "string", "String", "str"),
            (#""type":"date""#, "CalendarDate", "CalendarDate", "CalendarDate"),
            (#""type":"datetime","fraction":3"#, "LocalDateTime", "LocalDateTime", "LocalDateTime"),
            (#""type":"timestamp""#, "Timestamp", "Timestamp", "Timestamp"),
            (#""type":"time""#, "TimeSpan", "TimeSpan", "TimeSpan"),
            (#""type":"binary""#, "Base64", "Data", "bytes"),
            (#""type":"json""#, "JSONValue", "JSONValue", "JSONValue"),
            (#""type":"set""#, "string[]", "[String]", "list[str]"),
            (#""type":"set","members":["x"]"#, "ThingRowA[]", "[ThingRowA]", "list[ThingRowA]"),
            (#""type":"enum","members":["x","y z"]"#, "ThingRowA", "ThingRowA", "ThingRowA"),
            (#""type":"integer","references":"things""#, "number | string", "TypedID<Thing>", "int | str"),
        ])
    func kinds(_ column: String, _ typescript: String, _ swift: String, _ python: String) throws {
        for isNullable in [false, true] {
            let field = #"{"field":"a","nullable":\#(isNullable),\#(column)}"#
            let end = isNullable ? " | null;" : ";"
            #expect(try Self.text(.typescript, field).contains("  a: \(typescript)\(end)\n"))
            #expect(try Self.text(.swift, field).contains("    public var a: \(swift)\(isNullable ? "?" : "")\n"))
            #expect(try Self.text(.python, field).contains("    a: \(python)\(isNullable ? " | None = None" : "")\n"))
        }
    }

    @Test("Members of an ENUM column with quotes, line breaks and words are written as they are")
    func members() throws {
        let field =
            #"{"field":"a","type":"enum","members":["it's","a\"b\\","\n","class","in work","in-work",""],"nullable":true}"#
        let swift = try Self.text(.swift, field)
        for line in [
            #"static let itS = Self(rawValue: "it's")"#, #"Self(rawValue: "a\"b\\")"#, #"Self(rawValue: "\u{a}")"#,
            "static let `class` =", #"static let inWork_ = Self(rawValue: "in-work")"#, #"Self(rawValue: "")"#,
        ] { #expect(swift.contains(line), "\(line) in \(swift)") }
        #expect(try Self.text(.python, field).contains(#"Literal["it's", "a\"b\\", "\U0000000a", "class","#))
        #expect(try Self.text(.typescript, field).contains(#""it's" | "a\"b\\" | "\n" | "class" | "in work""#))
    }

    @Test("A group that the client may not write has read-only fields, or may be set in a new row")
    func rights() throws {
        func group(_ name: String, _ rights: String) -> String {
            #"{"group":"\#(name)",\#(rights)"fields":[{"field":"\#(name)","type":"text","nullable":false}]}"#
        }
        let groups = [
            group("written", #""write":true,"#), group("initial", #""write":false,"create":true,"#),
            group("shown", #""write":false,"#),
        ]
        let rules = """
            {"resources":[{"resource":"things","sections":[{"section":"row","kind":"root","key":[],"readOnly":[],\
            "groups":[\(groups.joined(separator: ","))]}]}]}
            """
        let swift = try ClientTypes.text(of: rules, in: .swift)
        for line in [
            "public var written: String\n", "public let initial: String\n", "public let shown: String?\n",
            "init(written: String, initial: String)",
        ] { #expect(swift.contains(line), "\(line) in \(swift)") }
        let python = try ClientTypes.text(of: rules, in: .python)
        for line in [
            "    written: str\n", "    initial: Final[str]\n", "    shown: Final[str | None] = field(init=False",
        ] {
            #expect(python.contains(line), "\(line) in \(python)")
        }
        #expect(try ClientTypes.text(of: rules, in: .typescript).contains("  readonly shown?: string;\n"))
    }
}

import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// Rules of access and guards as they are read and bound.
@Suite struct AccessRulesTests {
    private static let number = ColumnSchema(
        name: "area", declared: DeclaredType("int", types: [.integer(0...1_000)]), isNullable: true,
        filling: ColumnFilling(hasDefault: true))

    private static func schema() -> DatabaseSchema {
        func text(_ name: String) -> ColumnSchema {
            ColumnSchema(
                name: name, declared: DeclaredType("text", types: [.text(TextType())]), isNullable: true,
                filling: ColumnFilling(hasDefault: true))
        }
        let key = ColumnSchema(
            name: "id", declared: DeclaredType("int", types: [.integer(0...1_000)]), isNullable: false,
            filling: ColumnFilling(hasDefault: false))
        let table = TableSchema(
            name: TableName(name: "stops"), storage: StorageEngine("InnoDB", isTransactional: true),
            columns: [key, number, text("owner"), text("status")],
            constraints: TableConstraints(primaryKey: ["id"], indexedColumns: ["area"]))
        return DatabaseSchema(tables: [table.name: table], allNames: ["stops"])
    }

    private static func findings(access: String, group: String = "status: status", severity: Finding.Severity? = nil)
        -> [String]
    {
        let text = """
            resource: stops
            sections:
              stop:
                table: stops
                groups: {area: area, owner: owner, \(group)}
            access:
            \(access)
            """
        let folder = RuleFolder(texts: [("stops.yaml", text)])
        let found = RuleBinder.bind(folder, to: schema()).findings.sorted
        return found.filter { severity == nil ? $0.severity != .note : $0.severity == severity }.map(\.description)
    }

    @Test(
        "An extreme number in a rule file is a finding or a value, whatever its form",
        arguments: [
            "1e999", "1e22", "-1e22", "9223372036854775808", "-9223372036854775809", "18446744073709551616",
            "1:00:00:00:00:00:00:00:00:00:00:00:00:00", "-9223372036854775807:59:59", "0x7FFFFFFFFFFFFFFFF",
            "0b" + String(repeating: "1", count: 200), "0o7777777777777777777777777", ".inf", "-.INF", ".NaN",
            "1_000_000",
            "+9999999999999999999999", String(repeating: "9", count: 400),
        ])
    func extremeNumbers(_ number: String) {
        for (access, group) in [
            ("  a: {read: all, rows: {area: {value: \(number)}}}", "status: status"),
            (
                "  a: {read: all, rows: {area: {any: [{before: \(number)}, {not: {value: \(number)}}]}}}",
                "status: status"
            ),
            ("  a: {read: all}", "status: {column: status, transitions: {\(number): [\(number)]}}"),
        ] {
            let found = Self.findings(access: access, group: group)
            if group == "status: status" {
                #expect(found.contains { $0.contains("is of type integer") }, "\(number): \(found)")
            } else {
                #expect(!found.contains { $0.contains("error") }, "\(number): \(found)")
            }
        }
    }

    /// A column that a role sets has a value in new rows, also if no group contains it.
    @Test("Columns that a role sets can be an identity")
    func identity() {
        let text = """
            resource: stops
            sections:
              stop: {table: stops, groups: {status: status}, identity: [owner]}
            access:
              a: {read: all, rows: {owner: {claim: who}}, set: {owner: {claim: who}}}
            """
        let bound = RuleBinder.bind(RuleFolder(texts: [("stops.yaml", text)]), to: Self.schema())
        #expect(bound.catalog != nil)
        #expect(!bound.findings.sorted.contains { $0.description.contains("in no group") }, "\(bound.findings.sorted)")
    }

    @Test(
        "Each error is named",
        arguments: [
            ("  a: {write: all}", "“a” has no “read”"),
            ("  a: {read: most}", "“read” is “all”, or a list"),
            ("  a: {read: [stopp]}", "no section “stopp”; did you mean “stop”?"),
            ("  a: {read: [stops.status]}", "no section “stops”; did you mean “stop.status”?"),
            ("  a: {read: [stop.ownr]}", "no group and no read-only field “ownr”; did you mean “owner”?"),
            ("  a: {reed: all}", "“reed” is not a key of a role; did you mean “read”?"),
            ("  a: {read: all, rows: {aera: {claim: x}}}", "has no column “aera”; did you mean “area”?"),
            ("  a: {read: all, rows: {area: 3}}", "must be a mapping"),
            ("  a: {read: all, rows: {area: {clam: x}}}", "“clam” is not a key of a test; did you mean “claim”?"),
            ("  a: {read: all, rows: {area: {value: x}}}", "is of type integer and cannot store “x”"),
            ("  a: {read: all, rows: {area: {null: false}}}", "its opposite is “not: {null: true}”"),
            ("  a: {read: all, rows: {area: {any: {claim: x}}}}", "“any” is a list of tests"),
            ("  a: {read: all, set: {owner: ann}}", "must be a mapping"),
            ("  a: {read: all, set: {id: {claim: who}}}", "is the key, which comes from “id”"),
            (
                "  a: {read: [stop.area], write: [stop.owner], rows: {area: {claim: x}}}",
                "what is not read is not written"
            ),
            ("  a: {read: all, rows: all, create: []}", "“create” names no group"),
            ("  a: {read: all, rows: all, create: some}", "“create” must be true, false, or a list"),
            (
                "  a: {read: all, rows: all, write: all, create: [stop.status]}",
                "role “a” may write “stop.status” at any time; leave it out of “create” or of “write”"
            ),
            ("  a: {read: all, rows: {owner: {claim: who}}}", "no index of table “stops” begins with column “owner”"),
            ("  a: {read: all, write: all, rows: {area: {claim: x}}}", "may write column “area”, by which it is shown"),
        ])
    func errors(_ access: String, _ sentence: String) {
        let found = Self.findings(access: access)
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
    }

    @Test("Correct rules have no finding")
    func noErrors() {
        let access = """
              a:
                read: [stop.area, stop.status]
                write: [stop.status]
                rows: {area: {any: [{claim: areas}, {not: {before: 3}}, {after: {claim: x}}, {null: true}]}}
            """
        #expect(Self.findings(access: access).isEmpty, "\(Self.findings(access: access))")
    }

    @Test("A role without “rows” is only noted, so that each start of a gateway does not warn of it")
    func noRows() {
        #expect(Self.findings(access: "  a: {read: all}").isEmpty)
        let notes = Self.findings(access: "  a: {read: all}", severity: .note)
        #expect(notes.contains { $0.contains("role “a” has no “rows”, so it sees every row") }, "\(notes)")
    }

    @Test("A role with “rows: all” reads all rows without a warning")
    func allRows() {
        let access = "  a: {read: all, rows: all}"
        #expect(Self.findings(access: access).isEmpty, "\(Self.findings(access: access))")
    }

    @Test("Transitions name values of the column")
    func transitions() {
        let access = "  a: {read: all, rows: {area: {claim: x}}}"
        #expect(
            Self.findings(access: access, group: "state: {column: status, transitions: {new: [open], open: []}}")
                .isEmpty)
        let wrong = Self.findings(access: access, group: "step: {column: status, transitions: [new]}")
        #expect(wrong.contains { $0.contains("“transitions” is a mapping") }, "\(wrong)")
    }

    @Test("A changed meaning of access rules changes the version")
    func version() throws {
        func version(_ access: String) throws -> String {
            let text = """
                resource: stops
                sections: {stop: {table: stops, groups: {area: area, owner: owner}}}
                access: {a: {read: all, rows: {area: {\(access)}}}}
                """
            return try #require(
                RuleBinder.bind(RuleFolder(texts: [("stops.yaml", text)]), to: Self.schema()).catalog
            ).version
        }
        #expect(try version("claim: x") == version("claim: x"))
        #expect(try version("claim: x") != version("claim: y"))
        #expect(try version("value: 1") != version("value: 2"))
    }
}

import Testing

@testable import RuleFiles

/// SQL that would change the meaning of the SQL around it is refused with its line.
@Suite struct OperatorSQLShapeTests {
    @Test(
        "Valid SQL is accepted",
        arguments: [
            "deleted = 0", "(a = 1 OR b = 2)", "name <> ')'", "name <> \"(\" AND `odd)name` = 1",
            "a = 1 -- until (later",
            "a = 1 /* ( */", "a = 'it''s (' ", "a = 'it\\'s ('", "a = 'ends with \\'", "a <> '?'", "a = 1 # (",
            "a <> ';'",
        ])
    func accepted(_ sql: String) { #expect(OperatorSQLShape.fault(in: sql) == nil) }

    @Test(
        "Other SQL is refused",
        arguments: [
            ("1 = 1) OR (1 = 1", "closes a parenthesis"), ("(a = 1", "opens a parenthesis"),
            ("a = 1 /* later", "comment that is not closed"), ("a = 'x", "quote that is not closed"),
            ("a = ?", "bare “?”"), ("a = 1; DROP TABLE t", "semicolon"), ("a = 1 /*! OR 1 = 1 */", "some servers run"),
            ("a = 1 /*M!100100 OR 1 = 1 */", "some servers run"), ("a = 1 -- )\n)", "closes a parenthesis"),
        ])
    func refused(_ sql: String, _ fault: String) {
        #expect(OperatorSQLShape.fault(in: sql)?.contains(fault) == true)
    }

    @Test("The finding names the line")
    func line() {
        var reader = RuleFileReader(file: "a.yaml")
        _ = reader.read(
            """
            resource: a
            sections:
              s:
                table: t
                where: "1 = 1) OR (1 = 1"
                checks:
                  - {name: c, sql: "a = ?", fields: [a]}
                groups: {a: a}
            """)
        let found = reader.findings.sorted.map(\.description)
        #expect(found.contains { $0.hasPrefix("a.yaml:5:") && $0.contains("“where” closes a parenthesis") }, "\(found)")
        #expect(found.contains { $0.hasPrefix("a.yaml:7:") && $0.contains("check “c” has a bare “?”") }, "\(found)")
    }
}

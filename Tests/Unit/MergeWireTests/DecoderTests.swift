import MergeCore
import MergeWire
import Testing

/// Bodies are decoded to typed edits, or to a problem with a path.
@Suite struct DecoderTests {
    static let catalog: Catalog = {
        let number = ColumnType.integer(Int128(Int32.min)...Int128(Int32.max))
        let text = ColumnType.text(TextType(maximumCharacters: 20))
        let customer = Section(
            name: "customer", kind: .root,
            table: SectionTable(
                TableName(name: "customers"),
                columns: [
                    Column(name: "id", type: number, isNullable: false),
                    Column(name: "name", type: text, isNullable: false),
                    Column(name: "street", type: text, isNullable: true),
                    Column(name: "code", type: text, isNullable: true),
                    Column(name: "modified", type: .dateTime(fraction: 0), isNullable: true),
                    Column(
                        name: "money", type: .decimal(precision: 30, scale: 10, isUnsigned: false), isNullable: true),
                ], keyCount: 1, generatedKeyColumn: 0),
            fields: SectionFields(
                [
                    Field(name: "name", column: 1), Field(name: "street", column: 2), Field(name: "code", column: 3),
                    Field(name: "money", column: 5),
                ],
                groups: [
                    Group(name: "name", fields: 0..<1, onConflict: Ruled(.clientWins)),
                    Group(name: "address", fields: 1..<3, onConflict: Ruled(.clientWins)),
                    Group(name: "money", fields: 3..<4, onConflict: Ruled(.clientWins)),
                ], readOnly: [Field(name: "modified", column: 4)]))
        let groceries = Section(
            name: "groceries", kind: .list,
            table: SectionTable(
                TableName(name: "groceries"),
                columns: [
                    Column(name: "id", type: number, isNullable: false),
                    Column(name: "what", type: text, isNullable: false),
                    Column(name: "friend", type: number, isNullable: true),
                    Column(name: "customer", type: number, isNullable: false),
                ], keyCount: 1, generatedKeyColumn: 0, parent: [ParentLink(column: 3, rootColumn: 0)]),
            fields: SectionFields(
                [
                    Field(name: "what", column: 1),
                    Field(
                        name: "friend", column: 2,
                        reference: SectionReference(resource: "shoppers", section: "customer")),
                ],
                groups: [
                    Group(name: "what", fields: 0..<1, onConflict: Ruled(.clientWins)),
                    Group(name: "friend", fields: 1..<2, onConflict: Ruled(.clientWins)),
                ]))
        let resource = Resource(name: "shoppers", description: nil, sections: [customer, groceries])
        return Catalog(resources: resource.map { [$0] } ?? [], version: "v1")
    }()

    private static func push(_ body: String, key: String? = nil) throws -> Push {
        try push(bytes: Array(body.utf8), key: key)
    }

    private static func push(bytes: [UInt8], key: String? = nil) throws -> Push {
        let decoder = PushDecoder(catalog: catalog, limits: WireLimits())
        return try bytes.withUnsafeBytes { try decoder.push($0, headerKey: key, sender: "").push.get() }
    }

    private static func edit(_ changeset: String, id: String = "1") -> String {
        #"{"edits":[{"resource":"shoppers","id":\#(id),"changeset":\#(changeset)}]}"#
    }

    @Test("Both forms result in the same edit")
    func forms() throws {
        let group = try Self.push(
            Self.edit(
                #"{"customer":{"name":{"old":"a","new":"b"},"address":{"old":{"street":"s","code":null},"new":{"code":"c","street":"s"}}}}"#
            ))
        let row = try Self.push(
            Self.edit(
                #"{"customer":{"old":{"name":"a","street":"s","code":null},"new":{"name":"b","code":"c","street":"s"}}}"#
            ))
        func meaning(_ push: Push) -> [[Value]] {
            push.edits.flatMap(\.rows).flatMap { row -> [[Value]] in
                guard case .edit(let groups) = row.action else { return [] }
                return groups.flatMap { group -> [[Value]] in
                    guard case .values(let base) = group.base else { return [] }
                    return [[.integer(Int128(group.group))], base.values, group.edited.values]
                }
            }
        }
        #expect(meaning(group) == meaning(row))
        #expect(meaning(group).count == 6)
    }

    static let badInput: [(body: String, path: String, code: String, status: Int)] = [
        ("{", "", "not-json", 400),
        ("[]", "", "invalid", 400),
        (#"{"edits":[],"edits":[]}"#, "", "duplicate-member", 400),
        (#"{"edits":[],"x":1}"#, "x", "unknown-member", 400),
        (#"{"edits":{}}"#, "edits", "invalid", 400),
        (#"{"edits":[],"key":""}"#, "key", "invalid", 400),
        (#"{"edits":[],"atomic":"all"}"#, "atomic", "invalid", 400),
        (#"{"edits":[],"rules":"v0"}"#, "rules", "rules-changed", 409),
        (#"{"edits":[{"resource":"shoper","id":1,"changeset":{}}]}"#, "edits[0].resource", "unknown-resource", 400),
        (edit("{}", id: #""x""#), "edits[0].id", "malformed-id", 400),
        (edit("{}", id: "[1,2]"), "edits[0].id", "malformed-id", 400),
        (edit(#"{"custmer":{}}"#), "edits[0].changeset.custmer", "unknown-section", 400),
        (edit(#"{"customer":{"nam":{"old":"a","new":"b"}}}"#), "edits[0].changeset.customer.nam", "unknown-group", 400),
        (
            edit(#"{"customer":{"street":{"old":"a","new":"b"}}}"#), "edits[0].changeset.customer.street",
            "unknown-group", 400
        ),
        (edit(#"{"customer":{"name":{"old":"a"}}}"#), "edits[0].changeset.customer.name.new", "invalid", 400),
        (
            edit(#"{"customer":{"name":{"old":"a","new":7}}}"#), "edits[0].changeset.customer.name.new",
            "invalid-value", 400
        ),
        (
            edit(#"{"customer":{"name":{"old":"a","new":null}}}"#), "edits[0].changeset.customer.name.new",
            "invalid-value", 400
        ),
        (
            edit(#"{"customer":{"address":{"old":{"street":"s","code":"c"},"new":{"street":"s"}}}}"#),
            "edits[0].changeset.customer.address.new.code", "incomplete-group", 400
        ),
        (
            edit(#"{"customer":{"old":{"name":"a","street":"s"},"new":{"name":"b","street":"s"}}}"#),
            "edits[0].changeset.customer.old.code", "incomplete-group", 400
        ),
        (
            edit(#"{"groceries":[{"id":1,"old":{"what":"a"},"new":{"waht":"b"}}]}"#),
            "edits[0].changeset.groceries[0].new.waht", "unknown-field", 400
        ),
        (
            edit(#"{"groceries":[{"id":1,"old":null,"new":{"what":"a","friend":"tmp:x"}}]}"#),
            "edits[0].changeset.groceries[0].new.friend", "unknown-temporary", 400
        ),
        (edit(#"{"customer":{"old":null,"new":null}}"#), "edits[0].changeset.customer", "invalid", 400),
        (
            edit(#"{"customer":{"oldHash":"sha256:00","new":{}}}"#), "edits[0].changeset.customer.oldHash", "invalid",
            400
        ),
        (
            edit(
                #"{"customer":{"old":{"name":"a","modified":null},"new":{"name":"b","modified":"2026-11-20T10:00:00"}}}"#
            ),
            "edits[0].changeset.customer.new.modified", "read-only", 400
        ),
        (edit(String(repeating: "[", count: 40)), "", "too-deep", 400),
    ]

    @Test("Each fault has a path", arguments: badInput.indices)
    func faults(_ index: Int) {
        let test = Self.badInput[index]
        do {
            _ = try Self.push(test.body)
            Issue.record("accepted: \(test.body)")
        } catch let problem as Problem {
            #expect(problem.code.rawValue == test.code)
            #expect(ProblemHead(problem).status == test.status)
            #expect((problem.path?.text ?? "") == test.path)
        } catch {
            Issue.record(error)
        }
    }

    @Test("Invalid UTF-8 is refused")
    func invalidUTF8() {
        let body: [UInt8] = Array(#"{"edits":[],"key":""#.utf8) + [0xFF] + Array(#""}"#.utf8)
        #expect(throws: Problem.self) { try Self.push(bytes: body) }
    }

    /// An escaped NUL is a character like others.
    @Test(
        "A raw NUL is refused at any position",
        arguments: [
            edit(#"{"customer":{"name":{"old":"a","new":"b\\\"c"}}}"#),
            edit(#"{"customer":{"money":{"old":7,"new":12345678901234567890}}}"#),
            edit(#"{"groceries":[{"id":1,"friend":{"old":null,"new":3}}]}"#), #"{"edits":[],"key":"\u0041"}"#,
        ])
    func rawNUL(_ body: String) throws {
        _ = try Self.push(body)
        for index in 0...body.utf8.count {
            var bytes = Array(body.utf8)
            bytes.insert(0, at: index)
            #expect(throws: Problem.self, "in front of byte \(index)") { try Self.push(bytes: bytes) }
        }
    }

    @Test("The problem of a raw NUL has its position")
    func positionOfNUL() {
        for (body, place) in [("{}\0", "line 1, column 3"), ("{\n\"é\": 1\0}", "line 2, column 7")] {
            do {
                _ = try Self.push(body)
                Issue.record("accepted: \(body)")
            } catch let problem as Problem {
                #expect(problem.code == .notJSON && problem.detail.contains(place), "\(problem.detail)")
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test("An escaped NUL is a character")
    func escapedNUL() throws {
        let push = try Self.push(Self.edit(#"{"customer":{"name":{"old":"a","new":"b\u0000c"}}}"#))
        guard case .edit(let groups)? = push.edits.first?.rows.first?.action else {
            Issue.record("no edit")
            return
        }
        #expect(groups.first?.edited.values == [.text(ExactText("b\0c"))])
    }

    @Test(arguments: [
        "12345678901234567890.0123456789", "0.1", "1e3", "-0.0000000001", "99999999999999999999",
        "-9223372036854775808", "9007199254740993",
    ]) func numbersAreExact(_ number: String) throws {
        let push = try Self.push(Self.edit(#"{"customer":{"money":{"old":null,"new":\#(number)}}}"#))
        guard case .edit(let groups)? = push.edits.first?.rows.first?.action else {
            Issue.record("no edit")
            return
        }
        #expect(groups.first?.edited.values == ExactDecimal(number).map { [.decimal($0)] })
    }

    @Test("Invalid numbers are refused")
    func invalidNumbers() {
        for wrong in ["012345678901234567890", "1234567890123456789.", "-", "1e", "12345678901234567890e+"] {
            #expect(throws: Problem.self) {
                try Self.push(Self.edit(#"{"customer":{"money":{"old":null,"new":\#(wrong)}}}"#))
            }
        }
    }

    @Test("Temporary ids are kept until the row has a key")
    func temporaryIDs() throws {
        let push = try Self.push(
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"groceries":[{"old":null,"new":{"what":"x","friend":-5}}]}},"#
                + #"{"resource":"shoppers","id":-5,"changeset":{"customer":{"old":null,"new":{"name":"n"}}}}]}"#)
        guard case .create(let new)? = push.edits.first?.rows.first?.action else {
            Issue.record("no creation")
            return
        }
        #expect(new.pending == [PendingReference(position: 1, id: TemporaryID("-5"))])
        #expect(push.edits.last?.id.temporary == TemporaryID("-5"))
    }

    @Test("The key is in the body or in a header")
    func idempotencyKey() throws {
        #expect(try Self.push(#"{"edits":[]}"#, key: "k").key == "k")
        #expect(try Self.push(#"{"edits":[],"key":"k"}"#, key: "k").key == "k")
        #expect(throws: Problem.self) { try Self.push(#"{"edits":[],"key":"k"}"#, key: "l") }
    }
}

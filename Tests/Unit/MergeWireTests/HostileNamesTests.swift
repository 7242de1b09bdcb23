import MergeCore
import Testing

@testable import MergeWire

/// Names and ids are compared by bytes and have a maximum length.
@Suite struct HostileNamesTests {
    private static func push(_ body: String) throws -> Push {
        let decoder = PushDecoder(catalog: DecoderTests.catalog, limits: WireLimits())
        return try Array(body.utf8).withUnsafeBytes { try decoder.push($0, headerKey: nil, sender: "").push.get() }
    }

    private static func problem(_ body: String) -> Problem? {
        do {
            _ = try push(body)
            return nil
        } catch {
            return error as? Problem
        }
    }

    private static func creation(_ id: String, friend: String) -> String {
        #"{"edits":[{"resource":"shoppers","id":\#(id),"changeset":{"customer":{"old":null,"new":{"name":"a"}},"#
            + #""groceries":[{"id":1,"friend":{"old":null,"new":\#(friend)}}]}}]}"#
    }

    /// A run of combining marks.
    ///
    /// Swift's comparison of strings needs quadratic time for it.
    private static let marks = String(repeating: "\u{301}\u{316}", count: 40_000)

    /// Two normal forms are two ids.
    ///
    /// A row that was created with one is missing under the other.
    @Test("Temporary ids are compared by bytes")
    func temporaryIDs() throws {
        let same = try Self.push(Self.creation("\"tmp:\u{E9}\"", friend: "\"tmp:\u{E9}\""))
        #expect(same.edits.first?.id.temporary == TemporaryID("tmp:\u{E9}"))
        #expect(Self.problem(Self.creation("\"tmp:\u{E9}\"", friend: "\"tmp:e\u{301}\""))?.code == .unknownTemporary)
        #expect(TemporaryID("tmp:\u{E9}") != TemporaryID("tmp:e\u{301}"))
        // The mark after the colon does not hide the prefix.
        #expect(TemporaryID(marked: "tmp:\u{301}") != nil)
    }

    @Test("Sections, groups and fields are compared by bytes")
    func names() throws {
        let index = NameIndex(["\u{E9}", "b"])
        #expect(index["\u{E9}"] == 0 && index["e\u{301}"] == nil && index["b"] == 1)
        #expect(NameIndex([Self.marks])[Self.marks] == nil, "longer than a name may be")
    }

    @Test(
        "Long names are refused without reading them",
        arguments: [
            #"{"edits":[{"resource":"MARKS","id":1,"changeset":{}}]}"#,
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"MARKS":{}}}]}"#,
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"customer":{"MARKS":{"old":1,"new":2}}}}]}"#,
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"customer":{"address":{"new":{"MARKS":1},"old":{}}}}}]}"#,
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"customer":{"old":{"MARKS":1},"new":{}}}}]}"#,
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"customer":{"name":{"MARKS":1,"new":2}}}}]}"#,
            #"{"edits":[],"MARKS":1}"#, #"{"edits":[{"resource":"shoppers","id":1,"changeset":{},"MARKS":1}]}"#,
        ])
    func longNames(_ form: String) throws {
        let problem = try #require(Self.problem(form.replacing("MARKS", with: Self.marks)))
        #expect(ProblemHead(problem).status == 400 && problem.code == .nameTooLong, "\(problem.code)")
        #expect(problem.detail.utf8.count < 1_000 && (problem.path?.text.utf8.count ?? 0) < 1_000)
    }

    @Test("Other words are compared by bytes", arguments: ["rules", "atomic"])
    func otherWords(_ member: String) {
        let problem = Self.problem(#"{"edits":[],"\#(member)":"\#(Self.marks)"}"#)
        #expect(problem?.code == (member == "rules" ? .rulesChanged : .invalid))
    }

    @Test("The length of a temporary id is limited")
    func longTemporaryIDs() throws {
        let longest = "tmp:" + String(repeating: "x", count: 1_020)
        #expect(Self.problem(Self.creation("\"\(longest)\"", friend: "\"\(longest)\"")) == nil)
        let longer = longest + "x"
        #expect(Self.problem(Self.creation("\"\(longer)\"", friend: "null"))?.code == .nameTooLong)
        #expect(Self.problem(Self.creation("\"tmp:a\"", friend: "\"\(longer)\""))?.code == .nameTooLong)
    }

    /// A number as string is the same id as the number.
    @Test(
        "Negative numbers are temporary ids, however written", arguments: ["-3", "\"-3\"", "\"-3.0\"", "-3.0"],
        ["-3", "\"-3\"", "-3.0"])
    func negativeNumbers(_ id: String, _ friend: String) throws {
        let push = try Self.push(Self.creation(id, friend: friend))
        #expect(push.edits.first?.id.temporary == TemporaryID("-3"))
        guard case .edit(let groups)? = push.edits.first?.rows.last?.action else {
            Issue.record("no edit")
            return
        }
        #expect(groups.first?.edited.pending.first?.id == TemporaryID("-3"))
    }

    /// The cost of a long number does not depend on the numbers before it.
    @Test("Long numbers are replaced in one pass", arguments: [1_000, 20_000])
    func longNumbers(_ count: Int) throws {
        let text = "[" + (0..<count).map { "1\($0)0000000000000000000" }.joined(separator: ",") + "]"
        let guarded = try Array(text.utf8).withUnsafeBytes { try NumberGuard($0, maximumDepth: 4) }
        #expect(guarded.numbers.count == count)
        #expect(guarded.moves <= 8, "the text moved \(guarded.moves) times")
        #expect(guarded.rewritten?.first == UInt8(ascii: "[") && guarded.rewritten?.last == UInt8(ascii: "]"))
    }

    /// The memory for a document is limited, whatever its bytes.
    ///
    /// Normal bodies need much less.
    @Test("The memory for many small values is limited", arguments: ["{}", "[]", "1"])
    func smallValues(_ value: String) throws {
        var limits = WireLimits()
        limits.bodyBytes = 200_000
        let decoder = PushDecoder(catalog: DecoderTests.catalog, limits: limits)
        func code(_ count: Int) -> ProblemCode? {
            let body =
                #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"customer":{"old":{"name":["#
                + repeatElement(value, count: count).joined(separator: ",") + #"]},"new":{"name":"a"}}}}]}"#
            let push = try? Array(body.utf8).withUnsafeBytes {
                try decoder.push($0, headerKey: nil, sender: "").push
            }
            if case .failure(let problem)? = push { return problem.code }
            return push == nil ? .tooLarge : nil
        }
        // An object needs some 220 bytes, an array 120, a number 48.
        #expect(code(2_000) == .invalidValue)
        #expect(code(100_000) == .tooLarge)
        let problem = Self.problem("[" + repeatElement(value, count: 4_000_000).joined(separator: ",") + "]")
        #expect(problem?.code == .tooLarge && problem.map { ProblemHead($0).status } == 413, "\(problem?.detail ?? "")")
    }

    /// As many groups as a push may have items, each with its base, fit many times over.
    @Test("A large push fits")
    func largePush() throws {
        let items = (1...9_999).map {
            #"{"id":\#($0),"what":{"old":"a","new":"b"},"friend":{"old":null,"new":\#($0)}}"#
        }
        let body =
            #"{"edits":[{"resource":"shoppers","id":1,"changeset":{"groceries":["# + items.joined(separator: ",")
            + "]}}]}"
        #expect(try Self.push(body).edits.first?.rows.count == 9_999)
    }

    @Test("Nesting that a column cannot return is refused", arguments: [(512, true), (513, false)])
    func nesting(_ levels: Int, _ isTaken: Bool) {
        var scalar = Scalar.integer(1)
        for _ in 1..<levels { scalar = .array([scalar]) }
        #expect(((try? ColumnType.json(TextType()).accept(scalar)) != nil) == isTaken)
        let text = String(repeating: "[", count: levels - 1) + "1" + String(repeating: "]", count: levels - 1)
        #expect((JSONParser.parse(text) != nil) == isTaken, "as deep as is read again")
    }
}

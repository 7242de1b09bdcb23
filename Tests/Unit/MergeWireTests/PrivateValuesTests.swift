import MergeCore
import MergeWire
import Testing

/// A body that cannot be rewritten is not kept with its private values.
@Suite struct PrivateValuesTests {
    private static let catalog: Catalog = {
        let columns = [
            Column(name: "id", type: .integer(0...100), isNullable: false),
            Column(name: "pin", type: .text(TextType()), isNullable: true),
        ]
        let section = Section(
            name: "person", kind: .root, table: SectionTable(TableName(name: "people"), columns: columns, keyCount: 1),
            fields: SectionFields(
                [Field(name: "pin", column: 1, reference: nil, isPrivate: true)],
                groups: [Group(name: "pin", fields: 0..<1, onConflict: Ruled(.clientWins), merge: nil)], readOnly: []))
        let resource = Resource(name: "people", description: nil, sections: [section])
        return Catalog(resources: resource.map { [$0] } ?? [], version: "v")
    }()
    private static let values = PrivateValues(secret: Array("secret of the journal".utf8))

    /// A push that no parser reads: too deep, or cut off.
    private static let unreadable = [
        #"{"edits":[{"resource":"people","id":1,"changeset":{"person":{"pin":{"old":"1234","new":\#(String(repeating: "[", count: 3_000))"#,
        #"{"edits":[{"resource":"people","id":1,"changeset":{"person":{"pin":{"old":"1234""#,
    ]

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("A refused push that cannot be read is kept without its values, and is not sent again", arguments: unreadable)
    func refusedPushes(_ body: String) {
        let kept = Self.values.refusedBody(Array(body.utf8), address: "/v1/push", under: Self.catalog)
        #expect(!Self.text(kept).contains("1234"), "\(Self.text(kept))")
        #expect(!PrivateValues.missing(in: kept).isEmpty)
        #expect(!PrivateValues.missing(in: Array(body.utf8)).isEmpty, "a body that cannot be read may lack anything")
    }

    @Test("An answer that cannot be read is not kept", arguments: unreadable)
    func answers(_ body: String) {
        #expect(Self.values.answer(Array(body.utf8), Self.catalog) == nil)
        #expect(Self.values.answer(Array("{}".utf8), Self.catalog) == Array("{}".utf8))
    }

    @Test("A refused push is kept with digests of its private values alone")
    func digests() {
        let body = #"{"edits":[{"resource":"people","id":1,"changeset":{"person":{"pin":{"old":null,"new":"1234"}}}}]}"#
        let kept = Self.values.refusedBody(Array(body.utf8), address: "/v1/push", under: Self.catalog)
        #expect(!Self.text(kept).contains("1234") && Self.text(kept).contains("hmac-sha256:"))
        #expect(PrivateValues.missing(in: kept) == ["pin"])
        #expect(PrivateValues.missing(in: Array(body.utf8)).isEmpty)
    }
}

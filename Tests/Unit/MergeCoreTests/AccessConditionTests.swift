import Testing

@testable import MergeCore

/// Tests of columns, with the claims of a token inserted.
@Suite struct AccessConditionTests {
    private static let number = Column(name: "area", type: .integer(0...1_000), isNullable: true)
    private static let text = Column(name: "owner", type: .text(TextType()), isNullable: true)

    private static func viewer(_ claims: [String: Scalar]) -> Viewer {
        let members = claims.map { (ExactText($0), $1) }
        return Viewer(
            who: "ann", roles: [], claims: AccessClaims(Dictionary(members, uniquingKeysWith: { $1 })))
    }

    private static func meets(_ test: ConditionTest, _ value: Value, _ claims: [String: Scalar] = [:]) -> Bool {
        SettledTest(test, of: number, for: viewer(claims)).isMet(by: value, of: number.type)
    }

    @Test("Claims are converted to the column's type")
    func claims() {
        #expect(Self.meets(.claim("a"), .integer(7), ["a": .integer(7)]))
        #expect(Self.meets(.claim("a"), .integer(7), ["a": .text("7")]))
        #expect(Self.meets(.claim("a"), .integer(7), ["a": .array([.text("x"), .integer(7)])]))
        #expect(!Self.meets(.claim("a"), .integer(7), ["a": .array([.text("x")])]))
        #expect(!Self.meets(.claim("a"), .integer(7), ["a": .text("seven")]))
        #expect(!Self.meets(.claim("a"), .integer(7)))
        #expect(!Self.meets(.claim("a"), .integer(7), ["a": .null]))
    }

    @Test("Texts are compared by their characters")
    func texts() {
        let test = SettledTest(.claim("who"), of: Self.text, for: Self.viewer([:]))
        #expect(test.isMet(by: .text(ExactText("ann")), of: Self.text.type))
        #expect(!test.isMet(by: .text(ExactText("Ann")), of: Self.text.type))
        #expect(!test.isMet(by: .text(ExactText("ann ")), of: Self.text.type))
    }

    /// With a missing claim, `not` is false too.
    ///
    /// Other claims of a list still apply.
    @Test("A missing claim allows nothing")
    func missingClaims() {
        #expect(!Self.meets(.not(.claim("a")), .integer(7)))
        #expect(!Self.meets(.not(.any([.claim("a"), .value(.integer(1))])), .integer(7)))
        #expect(Self.meets(.any([.claim("a"), .value(.integer(7))]), .integer(7)))
        #expect(!Self.meets(.before(.claim("a")), .integer(7)) && !Self.meets(.after(.claim("a")), .integer(7)))
        #expect(!Self.meets(.before(.claim("a")), .integer(7), ["a": .array([.integer(9)])]))
        #expect(Self.meets(.not(.claim("a")), .integer(7), ["a": .array([.text("x"), .integer(8)])]))
    }

    @Test("NULL matches only a test for it")
    func null() {
        #expect(Self.meets(.null, .null) && !Self.meets(.null, .integer(1)))
        #expect(!Self.meets(.not(.value(.integer(1))), .null) && !Self.meets(.not(.null), .null))
        #expect(Self.meets(.not(.null), .integer(1)))
        #expect(Self.meets(.any([.null, .value(.integer(1))]), .null))
        #expect(!Self.meets(.before(.value(.integer(5))), .null))
    }

    @Test("before and after exclude their limits")
    func ends() {
        #expect(
            Self.meets(.before(.value(.integer(5))), .integer(4))
                && !Self.meets(.before(.value(.integer(5))), .integer(5)))
        #expect(
            Self.meets(.after(.value(.integer(5))), .integer(6))
                && !Self.meets(.after(.value(.integer(5))), .integer(5)))
    }
}

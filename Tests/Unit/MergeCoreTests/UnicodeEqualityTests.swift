import MergeCore
import Testing

/// Texts that differ only in their Unicode form are different, as in the database.
@Suite struct UnicodeEqualityTests {
    private static let composed = "caf\u{E9}"
    private static let decomposed = "cafe\u{301}"

    private static func viewer(_ who: String, city: String) -> Viewer {
        Viewer(who: who, roles: [], claims: AccessClaims([ExactText("city"): .text(city)]))
    }

    @Test("Scalars and the names of their members are compared by characters")
    func scalars() {
        #expect(Scalar.text(Self.composed) != .text(Self.decomposed))
        #expect(Scalar.array([.text(Self.composed)]) != .array([.text(Self.decomposed)]))
        let members = [Self.composed, Self.decomposed].map { ScalarMember(name: $0, value: .null) }
        #expect(Scalar.object([members[0]]) != .object([members[1]]))
        #expect(Scalar.object([members[0]]) == .object([members[0]]))
        #expect(Set([Scalar.text(Self.composed), .text(Self.decomposed)]).count == 2)
    }

    @Test("Two clients are one only if their names and claims have the same characters")
    func viewers() {
        let viewer = Self.viewer(Self.composed, city: "a")
        #expect(viewer == Self.viewer(Self.composed, city: "a"))
        #expect(viewer != Self.viewer(Self.decomposed, city: "a"))
        #expect(Self.viewer("a", city: Self.composed) != Self.viewer("a", city: Self.decomposed))
        #expect(Set([viewer, Self.viewer(Self.decomposed, city: "a")]).count == 2)
    }
}

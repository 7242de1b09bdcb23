/// A set of a client's roles, by their positions in its view of a resource.
package struct GrantSet: Sendable, Hashable {
    private var bits: UInt64

    /// No role.
    package static let none = GrantSet(bits: 0)
    /// Every role.
    package static let all = GrantSet(bits: .max)

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// True if the set has no role.
    package var isEmpty: Bool { bits == 0 }

    mutating func insert(_ position: Int) { bits |= 1 << UInt64(position) }

    func contains(_ position: Int) -> Bool { bits & (1 << UInt64(position)) != 0 }

    /// Returns the roles in both sets.
    package func intersection(_ other: GrantSet) -> GrantSet { GrantSet(bits: bits & other.bits) }

    /// Returns the roles in at least one of the sets.
    package func union(_ other: GrantSet) -> GrantSet { GrantSet(bits: bits | other.bits) }
}

/// Some of the roles of a client, by their positions among those that the rules name.
package struct GrantSet: Sendable, Hashable {
    private var bits: UInt64

    /// No role.
    package static let none = GrantSet(bits: 0)
    /// Every role.
    package static let all = GrantSet(bits: .max)

    private init(bits: UInt64) {
        self.bits = bits
    }

    /// True where no role is left.
    package var isEmpty: Bool { bits == 0 }

    mutating func insert(_ position: Int) { bits |= 1 << UInt64(position) }

    func contains(_ position: Int) -> Bool { bits & (1 << UInt64(position)) != 0 }

    /// Returns the roles that are in both sets.
    package func intersection(_ other: GrantSet) -> GrantSet { GrantSet(bits: bits & other.bits) }

    /// Returns the roles that are in one of the sets.
    package func union(_ other: GrantSet) -> GrantSet { GrantSet(bits: bits | other.bits) }
}

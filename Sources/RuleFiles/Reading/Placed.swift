import MergeCore

/// A value of a rule file with its location.
package struct Placed<Content: Sendable & Hashable>: Sendable, Hashable {
    /// The value.
    package let value: Content
    /// The location.
    package let place: Place
}

extension Placed {
    var ruled: Ruled<Content> { Ruled(value, rule: place.rule) }
}

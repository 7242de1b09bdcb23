import MergeCore

/// Something that stands in a rule file, with its place.
package struct Placed<Content: Sendable & Hashable>: Sendable, Hashable {
    /// The thing itself.
    package let value: Content
    /// The place where it stands.
    package let place: Place
}

extension Placed {
    /// The setting with the rule that it comes from.
    var ruled: Ruled<Content> { Ruled(value, rule: place.rule) }
}

/// The base, the current, the edited and the written value of a group or row, as a class to avoid copies.
package final class Sides: Sendable, Hashable {
    /// The value that the client last read.
    package let base: Shown
    /// The value that the database contained.
    package let current: Shown
    /// The value that the client sent.
    package let edited: Shown
    /// The value that the database contains after the push.
    package let written: Shown

    /// Creates the four sides.
    package init(base: Shown, current: Shown, edited: Shown, written: Shown) {
        self.base = base
        self.current = current
        self.edited = edited
        self.written = written
    }

    /// Returns the sides with another written value.
    package func writing(_ written: Shown) -> Sides {
        Sides(base: base, current: current, edited: edited, written: written)
    }

    package static func == (a: Sides, b: Sides) -> Bool {
        a === b || (a.base, a.current, a.edited, a.written) == (b.base, b.current, b.edited, b.written)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(base)
        hasher.combine(written)
    }
}

/// The sides that met in a group or row: what the client held, what the database held, what the client sent and what
/// stands now.
///
/// An object, because it travels far and its values are many.
package final class Sides: Sendable, Hashable {
    /// The side that the client last read.
    package let base: Shown
    /// The side that the database held.
    package let current: Shown
    /// The side that the client sent.
    package let edited: Shown
    /// The side that stands now.
    package let written: Shown

    /// Puts the sides together.
    package init(base: Shown, current: Shown, edited: Shown, written: Shown) {
        self.base = base
        self.current = current
        self.edited = edited
        self.written = written
    }

    /// The same, where something else came to stand.
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

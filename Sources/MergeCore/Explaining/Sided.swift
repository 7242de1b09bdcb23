/// The same thing of all three sides.
package struct Sided<Content> {
    /// Of what the client last read.
    package var base: Content
    /// Of what the database holds.
    package var current: Content
    /// Of what the client wants.
    package var edited: Content

    /// Puts the three together.
    package init(base: Content, current: Content, edited: Content) {
        self.base = base
        self.current = current
        self.edited = edited
    }

    /// Returns the content of a side.
    package subscript(side: RecordSide) -> Content {
        switch side {
        case .base: base
        case .current: current
        case .edited: edited
        }
    }

    /// Returns what `transform` makes of each side; throws what it throws.
    package func map<Other>(
        _ transform: (RecordSide, Content) throws(RecordFault) -> Other
    ) throws(RecordFault) -> Sided<Other> {
        Sided<Other>(
            base: try transform(.base, base), current: try transform(.current, current),
            edited: try transform(.edited, edited))
    }
}

extension Sided: Sendable where Content: Sendable {}

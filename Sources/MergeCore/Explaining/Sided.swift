/// One value for each of the three sides.
package struct Sided<Content> {
    /// The value of the base.
    package var base: Content
    /// The value of the current record.
    package var current: Content
    /// The value of the edited record.
    package var edited: Content

    /// Creates the three values.
    package init(base: Content, current: Content, edited: Content) {
        self.base = base
        self.current = current
        self.edited = edited
    }

    /// Returns the value of a side.
    package subscript(side: RecordSide) -> Content {
        switch side {
        case .base: base
        case .current: current
        case .edited: edited
        }
    }

    /// Returns the results of `transform` for each side.
    package func map<Other>(
        _ transform: (RecordSide, Content) throws(RecordFault) -> Other
    ) throws(RecordFault) -> Sided<Other> {
        Sided<Other>(
            base: try transform(.base, base), current: try transform(.current, current),
            edited: try transform(.edited, edited))
    }
}

extension Sided: Sendable where Content: Sendable {}

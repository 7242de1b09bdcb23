/// A location in the request, such as `edits[1].changeset.customer`.
///
/// Every value has a path, but few paths are ever read. So the text is made on demand.
package struct WirePath: Sendable, Hashable, CustomStringConvertible {
    private final class Place: Sendable {
        enum Step: Sendable {
            case member(String)
            case element(Int)
        }

        let parent: Place?
        let step: Step

        init(_ parent: Place?, _ step: Step) {
            self.parent = parent
            self.step = step
        }
    }

    /// The location, or nil for the body itself.
    private let place: Place?

    private init(_ place: Place?) {
        self.place = place
    }

    /// Begins a path; an empty text is the body itself.
    package init(_ text: String) {
        place = text.isEmpty ? nil : Place(nil, .member(text))
    }

    /// The path as text; empty for the body itself.
    package var text: String {
        var steps: [Place.Step] = []
        var next = place
        while let place = next {
            steps.append(place.step)
            next = place.parent
        }
        var text = ""
        for step in steps.reversed() {
            switch step {
            case .member(let name): text += text.isEmpty ? name : "." + name
            case .element(let index): text += "[\(index)]"
            }
        }
        return text
    }

    /// Returns the path of a member of this object.
    ///
    /// A name that is longer than the maximum is cut, because it is only displayed.
    package func member(_ name: String) -> WirePath {
        guard name.utf8.count > NameIndex.maximumBytes else { return WirePath(Place(place, .member(name))) }
        let start = String(String.UnicodeScalarView(name.unicodeScalars.prefix(60)))
        return WirePath(Place(place, .member(start + "…")))
    }

    /// Returns the path of an element of this array.
    package func element(_ index: Int) -> WirePath { WirePath(Place(place, .element(index))) }

    package var description: String { text }

    package static func == (a: WirePath, b: WirePath) -> Bool { a.place === b.place || a.text.isExactly(b.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactText(text)) }
}

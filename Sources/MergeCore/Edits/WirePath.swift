/// A place in the request, such as `edits[1].changeset.customer`.
///
/// Every value has one and hardly any is ever read, so the text is only made when it is asked for.
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

    /// nil for the body itself.
    private let place: Place?

    private init(_ place: Place?) {
        self.place = place
    }

    /// Begins a path; an empty text stands for the body itself.
    package init(_ text: String) {
        place = text.isEmpty ? nil : Place(nil, .member(text))
    }

    /// The path as a client is told it; empty for the body itself.
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

    /// Returns the path of a member of the object here.
    ///
    /// A name that is longer than names can be is cut: it is only shown.
    package func member(_ name: String) -> WirePath {
        guard name.utf8.count > NameIndex.maximumBytes else { return WirePath(Place(place, .member(name))) }
        let start = String(String.UnicodeScalarView(name.unicodeScalars.prefix(60)))
        return WirePath(Place(place, .member(start + "…")))
    }

    /// Returns the path of an element of the array here.
    package func element(_ index: Int) -> WirePath { WirePath(Place(place, .element(index))) }

    package var description: String { text }

    package static func == (a: WirePath, b: WirePath) -> Bool { a.place === b.place || a.text.isExactly(b.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactText(text)) }
}

/// Finds the positions of names by their bytes.
///
/// A name is as long as `maximumBytes` allows, so whatever a client sends costs no more than that to look up.
package struct NameIndex: Sendable, Hashable {
    /// The most bytes of the name of a resource, section, group or field.
    package static let maximumBytes = 255

    private let positions: [ExactText: Int]

    /// - Parameters:
    ///   - names: if one is there twice, the first counts.
    ///   - formerly: the earlier names of each, which count only if nothing else has the name.
    package init(_ names: some Sequence<String>, formerly: some Sequence<[String]> = EmptyCollection<[String]>()) {
        let earlier = formerly.enumerated().flatMap { position, names in names.map { (ExactText($0), position) } }
        positions = Dictionary(
            names.enumerated().map { (ExactText($1), $0) } + earlier, uniquingKeysWith: { first, _ in first })
    }

    /// The position of a name; nil where there is none of these bytes.
    package subscript(name: String) -> Int? {
        name.utf8.count <= Self.maximumBytes ? positions[ExactText(name)] : nil
    }
}

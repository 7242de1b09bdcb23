/// Finds the positions of names by their bytes.
///
/// It does not look up names longer than `maximumBytes`, so the cost of a lookup is limited.
package struct NameIndex: Sendable, Hashable {
    /// The maximum length of the name of a resource, section, group or field in bytes.
    package static let maximumBytes = 255

    private let positions: [ExactText: Int]

    /// Creates an index.
    ///
    /// - Parameters:
    ///   - names: The names. If one occurs twice, the first counts.
    ///   - formerly: The earlier names of each. They count only if no current name is equal.
    package init(_ names: some Sequence<String>, formerly: some Sequence<[String]> = EmptyCollection<[String]>()) {
        let earlier = formerly.enumerated().flatMap { position, names in names.map { (ExactText($0), position) } }
        positions = Dictionary(
            names.enumerated().map { (ExactText($1), $0) } + earlier, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the position of a name, if any.
    package subscript(name: String) -> Int? {
        name.utf8.count <= Self.maximumBytes ? positions[ExactText(name)] : nil
    }
}

/// Collects findings, so that one run reports all of them.
package struct Findings: Sendable, Hashable {
    /// The findings in the order of their creation.
    package private(set) var all: [Finding] = []

    /// Creates an empty collection.
    package init() {}

    /// True if the rules cannot be activated.
    package var hasErrors: Bool { all.contains { $0.severity == .error } }

    /// The errors as text, by file and line.
    package var errors: [String] { sorted.filter { $0.severity == .error }.map(\.description) }

    /// The missing rights as text, by file and line.
    package var missingRights: [String] { sorted.filter(\.isMissingRight).map(\.description) }

    /// The paths of the files that have errors.
    package var filesWithErrors: Set<String> { Set(all.filter { $0.severity == .error }.map(\.place.file)) }

    /// Adds an error.
    package mutating func error(_ place: Place, _ sentence: String) {
        append(Finding(place: place, severity: .error, sentence: sentence))
    }

    /// Adds a warning.
    package mutating func warning(_ place: Place, _ sentence: String, isMissingRight: Bool = false) {
        append(Finding(place: place, severity: .warning, sentence: sentence, isMissingRight: isMissingRight))
    }

    /// Adds a finding, unless the same one was added before: two rules may contain one faulty name.
    package mutating func append(_ finding: Finding) {
        if !all.contains(finding) { all.append(finding) }
    }

    /// Adds a note.
    package mutating func note(_ place: Place, _ sentence: String) {
        append(Finding(place: place, severity: .note, sentence: sentence))
    }

    /// Returns the number of findings of a severity.
    package func count(_ severity: Finding.Severity) -> Int { all.filter { $0.severity == severity }.count }

    /// The findings by file and line.
    package var sorted: [Finding] {
        all.sorted { a, b in
            (a.place.file, a.place.line, a.place.column) < (b.place.file, b.place.line, b.place.column)
        }
    }
}

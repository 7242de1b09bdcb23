/// A place in a rule file; lines and columns count from 1.
package struct Place: Sendable, Hashable {
    package let file: String
    package let line: Int
    package let column: Int
}

/// Something that `fieldmerge check` has to say about a rule file.
package struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The weight of a finding: all but an error let the rules be served.
    package enum Severity: String, Sendable, Hashable {
        case error
        /// Something may go wrong, and the sentence says what to do.
        case warning
        /// Something to know.
        case note
    }

    package let place: Place
    package let severity: Severity
    package let sentence: String

    /// `file:line:column: severity: sentence`.
    package var description: String {
        "\(place.file):\(place.line):\(place.column): \(severity.rawValue): \(sentence)"
    }
}

/// Collects findings, so that one run tells them all.
package struct Findings: Sendable, Hashable {
    package private(set) var all: [Finding] = []

    package init() {}

    package var hasErrors: Bool { all.contains { $0.severity == .error } }

    /// Adds an error.
    package mutating func error(_ place: Place, _ sentence: String) {
        all.append(Finding(place: place, severity: .error, sentence: sentence))
    }

    /// Adds a warning.
    package mutating func warning(_ place: Place, _ sentence: String) {
        all.append(Finding(place: place, severity: .warning, sentence: sentence))
    }

    /// Adds a finding.
    package mutating func append(_ finding: Finding) { all.append(finding) }

    /// Adds a note.
    package mutating func note(_ place: Place, _ sentence: String) {
        all.append(Finding(place: place, severity: .note, sentence: sentence))
    }

    /// Returns the number of findings of a severity.
    package func count(_ severity: Finding.Severity) -> Int { all.filter { $0.severity == severity }.count }

    /// The findings in the order of the files and their lines.
    package var sorted: [Finding] {
        all.sorted { a, b in
            (a.place.file, a.place.line, a.place.column) < (b.place.file, b.place.line, b.place.column)
        }
    }
}

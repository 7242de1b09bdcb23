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

    /// The place that it is about.
    package let place: Place
    /// The weight of it.
    package let severity: Severity
    /// A sentence without a full stop that says what is wrong and mostly what to do.
    package let sentence: String
    /// The database user lacks a right that the rules need.
    package var isMissingRight = false

    /// `file:line:column: severity: sentence`.
    package var description: String {
        "\(place.file):\(place.line):\(place.column): \(severity.rawValue): \(sentence)"
    }
}

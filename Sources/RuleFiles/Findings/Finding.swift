/// A problem in a rule file, as `fieldmerge check` reports it.
package struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// The severity of a finding, of which only an error prevents the activation of the rules.
    package enum Severity: String, Sendable, Hashable {
        case error
        /// A possible failure, with advice.
        case warning
        /// Information for the operator.
        case note
    }

    /// The location of the problem.
    package let place: Place
    /// The severity of the problem.
    package let severity: Severity
    /// A sentence without a full stop that describes the problem and usually the remedy.
    package let sentence: String
    /// True if the database user lacks a right that the rules need.
    package var isMissingRight = false

    /// `file:line:column: severity: sentence`.
    package var description: String {
        "\(place.file):\(place.line):\(place.column): \(severity.rawValue): \(sentence)"
    }
}

/// The reason why a value does not fit its column, which never contains the value itself.
package struct ValueProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The end of a sentence that begins with the name of the field, such as “is not a UUID”.
    package let reason: String

    /// Creates a problem from the end of a sentence.
    package init(_ reason: String) {
        self.reason = reason
    }

    package var description: String { reason }
}

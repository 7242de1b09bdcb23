/// The reason for which a value does not fit its column, as the end of a sentence that begins with the field's path.
///
/// It never repeats the value itself.
package struct ValueProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The end of a sentence that begins with the name of the field, such as “is not a UUID”.
    package let reason: String

    /// Takes the end of a sentence that begins with the name of the field.
    package init(_ reason: String) {
        self.reason = reason
    }

    package var description: String { reason }
}

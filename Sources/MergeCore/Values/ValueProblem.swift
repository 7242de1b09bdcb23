/// Why a value does not fit its column, as the end of a sentence that begins with the field's path.
///
/// It never repeats the value itself.
package struct ValueProblem: Error, Sendable, Hashable, CustomStringConvertible {
    package let reason: String

    package init(_ reason: String) {
        self.reason = reason
    }

    package var description: String { reason }
}

import MergeCore

extension Bind {
    /// The stored text of values that travel as text; nil for numbers, bytes and NULL.
    package var storedText: String? { type.storedText(of: value) }
}

/// The merge functions that are one word.
enum PlainMerge: String, Sendable, Hashable, CaseIterable {
    case add, max, min, set, text, json
}

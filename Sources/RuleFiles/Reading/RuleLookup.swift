/// A column of the row that another column refers to, as written.
struct RuleLookup: Sendable, Hashable {
    let name: Placed<String>
    /// The referring column of the section's table.
    let along: Placed<String>
    /// The column of the referred row.
    let column: Placed<String>
    var use = Use.lookup

    /// The part of the rules that reads the column.
    enum Use: Sendable, Hashable {
        /// A read-only field.
        case lookup
        /// A condition of a role.
        case condition

        /// The words for messages.
        var text: String {
            switch self {
            case .lookup: "a lookup"
            case .condition: "a condition"
            }
        }
    }
}

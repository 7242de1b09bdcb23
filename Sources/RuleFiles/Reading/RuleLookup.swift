/// A read-only field from the row that a column refers to, as written.
struct RuleLookup: Sendable, Hashable {
    let name: Placed<String>
    /// The referring column of the section's table.
    let along: Placed<String>
    /// The column of the referred row.
    let column: Placed<String>
}

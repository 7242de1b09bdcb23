/// The operator's SQL in a rule file.
package struct OperatorSQL: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The name of the section.
    package let section: String
    /// The name in messages: `“where”`, `check “credit”`.
    package let what: String
    /// The SQL with its location.
    package let sql: Placed<String>
}

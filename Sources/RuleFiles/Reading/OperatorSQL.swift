/// A piece of SQL that the operator wrote into a rule file.
package struct OperatorSQL: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The name of the section.
    package let section: String
    /// The name of it in messages: `“where”`, `check “credit”`.
    package let what: String
    /// The SQL with its place.
    package let sql: Placed<String>
}

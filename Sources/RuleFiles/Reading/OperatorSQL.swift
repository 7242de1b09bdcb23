/// A piece of SQL that the operator wrote into a rule file.
package struct OperatorSQL: Sendable, Hashable {
    package let resource: String
    package let section: String
    /// The name of it in messages: `“where”`, `check “credit”`.
    package let what: String
    package let sql: Placed<String>
}

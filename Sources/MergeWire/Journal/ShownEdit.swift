/// The part of a journal's entry that tells of an edited record.
package struct ShownEdit: Sendable {
    let resource: String
    let status: String
    let rules: String
    let content: [UInt8]

    /// Shows an edit.
    ///
    /// - Parameters:
    ///   - rules: the version of the rules.
    ///   - content: the record's key, its new ids and the outcomes: the members of a JSON object, in its braces.
    package init(resource: String, status: String, rules: String, content: [UInt8]) {
        self.resource = resource
        self.status = status
        self.rules = rules
        self.content = content
    }
}

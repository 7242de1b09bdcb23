/// The part of a journal entry about an edited record.
package struct ShownEdit: Sendable {
    let resource: String
    let status: String
    let rules: String
    let content: [UInt8]

    /// Creates the part of an entry.
    ///
    /// - Parameter content: A JSON object with the record's key, its new ids and the outcomes.
    package init(resource: String, status: String, rules: String, content: [UInt8]) {
        self.resource = resource
        self.status = status
        self.rules = rules
        self.content = content
    }
}

package import MergeCore

/// One rule file as written, before it is bound to a schema.
package struct RuleFile: Sendable, Hashable {
    let resource: Placed<String>
    let description: String?
    /// True if the operator accepts pushes that are not atomic, to tables without transactions.
    let allowsNonTransactional: Bool
    private(set) var sections: [RuleSection]
    /// The access rules, or nil if every client may read and write the resource.
    let access: RuleAccess?

    /// The resource of the file.
    package var name: String { resource.value }

    /// The path of the file, as in findings.
    package var path: String { resource.place.file }

    /// The tables of the file.
    package var tables: [TableName] { sections.compactMap { $0.tableName } }

    func resolved(by names: [TableName: TableName]) -> RuleFile {
        var file = self
        file.sections = sections.map { $0.resolved(by: names) }
        return file
    }
}

extension Place {
    /// The location for clients and operators, without the folder.
    var rule: RuleReference {
        let start = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file.utf8.index(after: $0) } ?? file.startIndex
        return RuleReference(file: String(file[start...]), line: line)
    }
}

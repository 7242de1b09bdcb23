package import MergeCore

/// One rule file as written, before it meets the schema.
package struct RuleFile: Sendable, Hashable {
    let resource: Placed<String>
    let description: String?
    /// The operator accepts that pushes to tables without transactions are not atomic.
    let allowsNonTransactional: Bool
    let sections: [RuleSection]
    /// The rules of access; nil where everybody reads and writes the resource.
    let access: RuleAccess?

    /// The resource that the file describes.
    package var name: String { resource.value }

    /// The path of the file, as findings name it.
    package var path: String { resource.place.file }

    /// The tables that the file names.
    package var tables: [TableName] { sections.compactMap { $0.tableName } }
}

extension Place {
    /// The place as clients and operators are told it; the folder is the operator's own affair.
    var rule: RuleReference {
        let start = file.utf8.lastIndex(of: UInt8(ascii: "/")).map { file.utf8.index(after: $0) } ?? file.startIndex
        return RuleReference(file: String(file[start...]), line: line)
    }
}

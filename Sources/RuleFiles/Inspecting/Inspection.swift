import MergeCore
package import RecordStore

/// Starter rules from the schema of a database.
package struct Inspection: Sendable, Hashable {
    /// The rule files, one for each resource.
    package let files: [StarterFile]
    /// The lines for the operator about results, guesses and omissions.
    package let summary: InspectionSummary

    /// Creates rules for the tables of a schema.
    ///
    /// - Parameters:
    ///   - allowsNonTransactional: True to include tables without transactions.
    ///   - takesSecrets: True to include columns whose names suggest secrets.
    package init(_ schema: DatabaseSchema, allowsNonTransactional: Bool = false, takesSecrets: Bool = false) {
        var summary = InspectionSummary()
        var tables: [InspectedTable] = []
        let all = schema.tables.values.sorted { $0.name.description < $1.name.description }
        for table in all {
            switch TableFitness(table, allowsNonTransactional: allowsNonTransactional) {
            case .usable(let usable): tables.append(usable)
            case .leftOut(let reason): summary.leaveOut("table “\(table.name)”: \(reason)")
            }
        }
        let tree = FamilyTree(tables)
        let placement = Placement(tree, tables)
        var files: [StarterFile] = []
        for root in tree.roots {
            guard let resource = placement[root.name]?.resource else { continue }
            let sections =
                [SectionDraft(root, link: nil, in: placement, takesSecrets: takesSecrets)]
                + tree.parts(of: root).map {
                    SectionDraft($0.table, link: $0.link, in: placement, takesSecrets: takesSecrets)
                }
            files.append(
                StarterFile(
                    name: resource + ".yaml", text: RuleFileText(resource: resource, sections: sections).text))
            summary.add(sections, resource: resource)
        }
        self.files = files
        self.summary = summary
    }
}

package import MergeCore

/// The tables that the rules name, as they stand in the database.
package struct DatabaseSchema: Sendable, Hashable {
    /// The tables by the names that the rules have for them.
    package let tables: [TableName: TableSchema]
    /// Every table and view of the schema connected to, to suggest names from.
    package let allNames: [String]
    /// The schema connected to; nil where the engine has none.
    package let name: String?
    /// The tables whose rows hang on a table's rows, for those that the rules name and those that a cascade reaches
    /// from them.
    package let dependents: [TableName: [Dependent]]

    /// Makes a schema of what was read.
    package init(
        tables: [TableName: TableSchema], allNames: [String], name: String? = nil,
        dependents: [TableName: [Dependent]] = [:]
    ) {
        self.dependents = dependents
        self.tables = tables
        self.allNames = allNames
        self.name = name
    }
}

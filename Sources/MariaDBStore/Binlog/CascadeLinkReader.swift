import MergeCore
import RecordStore

/// Reads the foreign keys by which other tables change rows of the logged tables.
struct CascadeLinkReader {
    /// A foreign key with the names of the log.
    struct Link {
        let child: TableName
        let target: TableName
        let targetColumns: [String]
        let actsOnDelete: Bool
        let actsOnUpdate: Bool
    }

    private let session: MariaDBSession

    init(_ session: MariaDBSession) { self.session = session }

    func links(
        to tables: [TableName: TableSchema], naming logName: (TableName) -> TableName
    ) throws(StoreError) -> [Link] {
        var links: [Link] = []
        for (name, table) in tables where !table.foreignKeys.isEmpty {
            let actions = try actions(of: name)
            for key in table.foreignKeys {
                let onDelete = actions.map { $0.onDelete(key.name) != nil } ?? true
                let onUpdate = actions.map { $0.onUpdate(key.name) != nil } ?? true
                guard onDelete || onUpdate else { continue }
                links.append(
                    Link(
                        child: logName(name), target: logName(key.target), targetColumns: key.targetColumns,
                        actsOnDelete: onDelete, actsOnUpdate: onUpdate))
            }
        }
        return links
    }

    /// Returns nil if the user has rights only on single columns, and cannot read the table's definition.
    private func actions(of table: TableName) throws(StoreError) -> ReferentialActions? {
        do throws(StoreError) {
            return ReferentialActions(definition: try InformationSchema(session, table: table).definition())
        } catch {
            guard error.kind == .denied else { throw error }
            return nil
        }
    }
}

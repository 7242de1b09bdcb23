import MergeCore
import RecordStore

/// The resource, section and key of each table in the rules.
struct Placement {
    struct Seat {
        let resource: String
        let section: String
        let isRoot: Bool
        let key: [String]
    }

    let tables: [InspectedTable]
    let guess: LinkGuess
    private var seats: [TableName: Seat] = [:]

    init(_ tree: FamilyTree, _ tables: [InspectedTable]) {
        self.tables = tables
        guess = LinkGuess(tables)
        var resources = ClientNames()
        for root in tree.roots {
            let resource = resources.takeResource(root.name.name)
            var sections = ClientNames()
            seat(root, in: resource, &sections, isRoot: true)
            for part in tree.parts(of: root) { seat(part.table, in: resource, &sections, isRoot: false) }
        }
    }

    private mutating func seat(
        _ table: InspectedTable, in resource: String, _ sections: inout ClientNames, isRoot: Bool
    ) {
        let section = sections.take(table.name.name, suffix: "Section", fallback: "section")
        seats[table.name] = Seat(resource: resource, section: section, isRoot: isRoot, key: table.key)
    }

    subscript(table: TableName) -> Seat? { seats[table] }
}

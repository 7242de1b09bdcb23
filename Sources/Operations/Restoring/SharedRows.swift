import MergeCore

/// The rows that several sections changed, so that the steps of one section do not contain all changes.
struct SharedRows {
    /// The name of a row in a resource.
    struct Name: Hashable {
        let resource: Resource
        let row: RowEffect.Row

        var section: Section { resource.sections[row.section] }
        fileprivate var place: Place { Place(resource: resource.name, section: row.section) }

        static func == (a: Name, b: Name) -> Bool { a.resource.name == b.resource.name && a.row == b.row }

        func hash(into hasher: inout Hasher) {
            hasher.combine(resource.name)
            hasher.combine(row)
        }
    }

    fileprivate struct Place: Hashable {
        let resource: String
        let section: Int
    }

    private let names: Set<Name>

    /// Finds the shared rows among rows that changed.
    init(among names: some Collection<Name>) {
        var shared: Set<Name> = []
        for rows in Dictionary(grouping: names, by: \.section.table).values {
            let places = Dictionary(grouping: rows, by: \.place)
            if places.count < 2 { continue }
            let keys = Set(rows.map { Array($0.section.columns.prefix($0.section.keyCount)) })
            guard keys.count == 1, rows.allSatisfy({ $0.row.key != nil }) else {
                // The keys of different columns do not show which rows are the same.
                shared.formUnion(rows)
                continue
            }
            for same in Dictionary(grouping: rows, by: \.row.key).values where Set(same.map(\.place)).count > 1 {
                shared.formUnion(same)
            }
        }
        self.names = shared
    }

    func contains(_ name: Name) -> Bool { names.contains(name) }
}

import MergeCore

/// The outcomes of a push that wrote a column which another outcome of the push wrote too.
///
/// The journal keeps the value that each of them wrote itself, because each can be undone alone. In the answer, each
/// has the final value.
struct RepeatedWrites {
    private struct Cell: Hashable {
        let row: RowName
        let column: String
    }

    private struct Place: Hashable {
        let report: Int
        let outcome: Int
    }

    private let places: Set<Place>

    init(_ reports: ArraySlice<EditReport>) {
        guard reports.count > 1 else {
            places = []
            return
        }
        var writes: [(place: Place, row: RowName, columns: [String])] = []
        for index in reports.indices {
            for (position, outcome) in reports[index].outcomes.enumerated() where outcome.kind.writes {
                guard let group = outcome.group else { continue }
                let section = reports[index].resource.sections[outcome.section]
                let columns = section.groups[group].positions.map { section.columns[section.fields[$0].column].name }
                writes.append((Place(report: index, outcome: position), reports[index].row(of: outcome), columns))
            }
        }
        let keys = Dictionary(grouping: writes.map(\.row), by: \.table).mapValues { Set($0.map(\.columns)).count }
        var cells: [Cell: [Place]] = [:]
        for write in writes {
            // The keys of different columns do not show which rows are the same.
            let isNamed = keys[write.row.table] == 1
            let row = isNamed ? write.row : RowName(anyRowOf: write.row.table)
            for column in write.columns { cells[Cell(row: row, column: column), default: []].append(write.place) }
        }
        places = Set(cells.values.filter { $0.count > 1 }.joined())
    }

    var isEmpty: Bool { places.isEmpty }

    func contains(_ outcome: Int, of report: Int) -> Bool { places.contains(Place(report: report, outcome: outcome)) }
}

extension EditReport {
    /// Returns the name of an outcome's row; the name of a singleton contains its section.
    fileprivate func row(of outcome: Outcome) -> RowName {
        let section = resource.sections[outcome.section]
        if case .key(let item)? = outcome.item { return RowName(item, in: section) }
        let key = key ?? RecordKey([])
        if section.kind == .root { return RowName(key, in: section) }
        return RowName(table: section.table, columns: [resource.name, section.name], key: key)
    }
}

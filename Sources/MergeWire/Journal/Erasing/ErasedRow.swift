package import MergeCore

/// A row of the person, or the known part of it.
package struct ErasedRow: Sendable {
    private let table: TableName
    private let values: [String: Value]
    private let texts: [String: String]

    /// Describes a current row of a section.
    package init(_ row: [Value], of section: Section) {
        self.init(columns: section.columns, values: row, of: section)
    }

    /// Describes a row of which only the key is known.
    package init(key: RecordKey, of section: Section) {
        self.init(columns: Array(section.columns.prefix(section.keyCount)), values: key.parts, of: section)
    }

    private init(columns: [Column], values: [Value], of section: Section) {
        table = section.table
        let own = zip(columns, values).filter { $0.0.lookup == nil && $0.1 != .null }
        self.values = Dictionary(own.map { ($0.0.name, $0.1) }) { $1 }
        texts = Dictionary(
            own.map { column, value in
                var writer = JSONWriter(capacity: 64)
                writer.value(value, column.style)
                return (column.name, String(decoding: writer.bytes, as: UTF8.self))
            }
        ) { $1 }
    }

    /// Returns the key by which a section of a resource names this row; for a singleton, the key of its record.
    package func key(in section: Section, of resource: Resource) -> RecordKey? {
        guard section.table == table else { return nil }
        let names: [String]
        if section.kind == .singleton {
            let links = section.parent.sorted { $0.rootColumn < $1.rootColumn }
            guard links.map(\.rootColumn) == Array(0..<resource.root.keyCount) else { return nil }
            names = links.map { section.columns[$0.column].name }
        } else {
            names = section.columns.prefix(section.keyCount).map(\.name)
        }
        let parts = names.compactMap { values[$0] }
        return parts.isEmpty || parts.count != names.count ? nil : RecordKey(parts)
    }

    /// Returns the JSON of the value that a column reads from this row along a reference.
    func text(of column: Column) -> String? {
        guard let step = column.lookup, step.table == table else { return nil }
        return texts[step.column.name]
    }

    /// Returns the rows of lists that an entry names.
    package static func items(of entry: [UInt8], _ resource: Resource) -> [ErasedRow] {
        let found = JSONDocument.stored(entry) { root in
            (root["outcomes"]?.elements ?? []).compactMap { outcome -> ErasedRow? in
                guard let index = outcome["section"]?.string.flatMap({ resource.section(named: $0) }) else {
                    return nil
                }
                let section = resource.sections[index]
                guard section.kind == .list, let item = outcome["id"].flatMap({ EntryReader.key($0, section) })
                else { return nil }
                return ErasedRow(key: item, of: section)
            }
        }
        return found ?? []
    }
}

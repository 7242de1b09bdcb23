import MergeCore

/// The rows of one record by section and key.
///
/// The first lookup in a longer list builds an index, so lookups of all rows cost no more than the rows.
struct RecordRows {
    private let record: Record
    private let resource: Resource
    private var positions: [Int: [RecordKey: Int]] = [:]
    private(set) var keysRead = 0

    /// The longest list that is searched without an index.
    private static let scanned = 4

    init(_ record: Record, _ resource: Resource) {
        self.record = record
        self.resource = resource
    }

    /// Returns a row; nil if it does not exist.
    ///
    /// - Parameter item: the key of an item of a list; nil in other sections.
    mutating func row(_ section: Int, _ item: RecordKey?) -> [Value]? {
        switch record.sections[section] {
        case .one(let row): return row
        case .many(let rows):
            guard let item else { return nil }
            let shape = resource.sections[section]
            if rows.count <= Self.scanned {
                keysRead += rows.count
                return rows.first { shape.isKey(item, of: $0) }
            }
            if positions[section] == nil {
                keysRead += rows.count
                positions[section] = Self.positions(of: rows, in: shape)
            }
            return positions[section]?[item].map { rows[$0] }
        }
    }

    private static func positions(of rows: [[Value]], in shape: Section) -> [RecordKey: Int] {
        Dictionary(rows.enumerated().map { (shape.key(of: $1), $0) }, uniquingKeysWith: { first, _ in first })
    }
}

import MergeCore

/// The rows of one record by their sections and keys.
///
/// The rows of a list are gathered by key once it is asked for the first of them, so that as many questions as it has
/// rows cost no more than the rows.
struct RecordRows {
    private let record: Record
    private let resource: Resource
    private var positions: [Int: [RecordKey: Int]] = [:]
    /// Counts the rows that were looked at for their keys.
    private(set) var keysRead = 0

    /// Rows up to which a list is looked through instead.
    private static let scanned = 4

    init(_ record: Record, _ resource: Resource) {
        self.record = record
        self.resource = resource
    }

    /// Returns a row; nil where there is none.
    ///
    /// - Parameter item: the key in a list; the only row of any other section has none.
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

import MergeCore
import MergeService
import RecordStore

/// A section of a resource as a scan reads it: row by row, in the order of the table's key.
struct ScanUnit: Sendable {
    let resource: Resource
    let section: Section
    /// Positions of the columns that are the key.
    let key: [Int]
    /// Positions of the columns that tie a row to its record; those of the key for the root.
    let link: [Int]
    /// Positions of the columns that conditions of access look at, which are all of the root.
    let conditions: [Int]
    /// Positions of all columns whose values a mark needs.
    let kept: [Int]
    /// The positions of the key's columns in `kept`.
    let keyPlaces: [Int]
    private let linkPlaces: [Int]
    private let conditionPlaces: [Int]
    let view: TableView

    /// nil where the rules name no key by which rows could be told apart, or one that cannot be written down.
    init?(_ resource: Resource, _ section: Section) {
        guard Self.isScanned(resource, section) else { return nil }
        self.resource = resource
        self.section = section
        let parent = section.parent.map(\.column)
        link = section.kind == .root ? Array(0..<section.keyCount) : parent
        // A singleton without a key of its own is one row of its record.
        key = section.keyCount > 0 ? Array(0..<section.keyCount) : section.kind == .singleton ? parent : []
        conditions = section.kind == .root ? resource.access?.columns ?? [] : []
        let kept = Set(key + link + conditions).sorted()
        func places(_ positions: [Int]) -> [Int] { positions.compactMap { kept.firstIndex(of: $0) } }
        self.kept = kept
        (keyPlaces, linkPlaces, conditionPlaces) = (places(key), places(link), places(conditions))
        view = TableView(resource: resource, section: section)
    }

    /// Returns true for a section whose rows can be told apart, and by keys that can be written down.
    static func isScanned(_ resource: Resource, _ section: Section) -> Bool {
        func isHeld(_ position: Int) -> Bool { PackedValues.holds(section.columns[position].type) }
        guard resource.root.keyCount > 0, (0..<section.keyCount).allSatisfy(isHeld) else { return false }
        if section.kind == .root { return true }
        // Without a key of its own only a singleton is one row of its record.
        return (section.keyCount > 0 || section.kind == .singleton) && !section.parent.isEmpty
            && section.parent.allSatisfy { isHeld($0.column) }
    }

    /// The sections of all resources that can be scanned, and the names of those that cannot.
    static func all(of catalog: Catalog) -> (units: [ScanUnit], others: [String]) {
        var units: [ScanUnit] = []
        var others: [String] = []
        for resource in catalog.resources {
            for section in resource.sections {
                if let unit = ScanUnit(resource, section) {
                    units.append(unit)
                } else {
                    others.append(name(of: resource, section))
                }
            }
        }
        return (units, others)
    }

    /// The name of a section among those of all resources.
    static func name(of resource: Resource, _ section: Section) -> String { name(of: resource.name, section.name) }

    /// The name of a section among those of all resources, by both names.
    static func name(of resource: String, _ section: String) -> String { resource + "/" + section }

    var name: String { Self.name(of: resource, section) }
    var isRoot: Bool { section.kind == .root }

    private func columns(_ positions: [Int]) -> [Column] { positions.map { section.columns[$0] } }

    /// Returns the mark of a row; nil where its key is of a kind that cannot be written down.
    ///
    /// - Parameter values: of the columns that are kept, in their order.
    func mark(_ values: ArraySlice<Value>, digest: UInt64) -> Mark? {
        guard let key = packed(keyPlaces, of: values), let link = isRoot ? [] : packed(linkPlaces, of: values) else {
            return nil
        }
        if conditionPlaces.isEmpty { return Mark(key: key, digest: digest, link: link) }
        let tuple = ConditionTuple(values: conditionPlaces.map { values[values.startIndex + $0] }, of: resource)
        return Mark(key: key, digest: digest, link: link, tag: tuple.map { ConditionTag($0.bytes) } ?? .none)
    }

    /// Writes values down without anything in between, since a scan does so for millions.
    private func packed(_ places: [Int], of values: ArraySlice<Value>) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(places.count * 10)
        for place in places {
            let column = section.columns[kept[place]]
            guard PackedValues.append(values[values.startIndex + place], of: column, to: &out) else { return nil }
        }
        return out
    }

    /// Writes a key down; nil where it is of a kind that cannot be.
    func packed(_ key: RecordKey) -> [UInt8]? { PackedValues.bytes(key.parts, of: columns(self.key)) }

    /// Reads a packed key.
    func key(_ bytes: [UInt8]) -> RecordKey? { PackedValues.values(bytes, of: columns(key)).map { RecordKey($0) } }

    /// Reads what ties a row with a mark to its record.
    func link(of mark: Mark) -> [Value]? {
        PackedValues.values(isRoot ? mark.key : mark.link, of: columns(link))
    }

    /// Returns the hash of what ties rows to a record.
    static func hash(link packed: [UInt8], _ key: SipHash.Key) -> UInt64 { SipHash.hash(packed, key: key) }
}

import MergeCore
import MergeService
import RecordStore

/// A section of a resource, as a scan reads it.
struct ScanUnit: Sendable {
    let resource: Resource
    let section: Section
    /// The positions of the key columns.
    let key: [Int]
    /// The positions of the columns that link a row to its record; for the root, the key.
    let link: [Int]
    /// The positions of the columns that access conditions read, which only the root has.
    let conditions: [Int]
    /// The positions of the columns whose values a row digest needs.
    let kept: [Int]
    /// The positions of the key columns in `kept`.
    let keyPlaces: [Int]
    private let linkPlaces: [Int]
    private let conditionPlaces: [Int]
    let view: TableView

    /// Makes a unit; nil if the section cannot be scanned.
    init?(_ resource: Resource, _ section: Section) {
        guard Self.isScanned(resource, section) else { return nil }
        self.resource = resource
        self.section = section
        let parent = section.parent.map(\.column)
        link = section.kind == .root ? Array(0..<section.keyCount) : parent
        // A singleton without its own key is one row of its record.
        key = section.keyCount > 0 ? Array(0..<section.keyCount) : section.kind == .singleton ? parent : []
        conditions = section.kind == .root ? resource.access?.columns ?? [] : []
        let kept = Set(key + link + conditions).sorted()
        func places(_ positions: [Int]) -> [Int] { positions.compactMap { kept.firstIndex(of: $0) } }
        self.kept = kept
        (keyPlaces, linkPlaces, conditionPlaces) = (places(key), places(link), places(conditions))
        view = TableView(resource: resource, section: section)
    }

    /// Returns true if a section has a key that identifies rows and can be packed.
    static func isScanned(_ resource: Resource, _ section: Section) -> Bool {
        func isHeld(_ position: Int) -> Bool { PackedValues.holds(section.columns[position].type) }
        guard resource.root.keyCount > 0, (0..<section.keyCount).allSatisfy(isHeld) else { return false }
        if section.kind == .root { return true }
        return (section.keyCount > 0 || section.kind == .singleton) && !section.parent.isEmpty
            && section.parent.allSatisfy { isHeld($0.column) }
    }

    /// Returns the sections that can be scanned, and the names of the others.
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

    static func name(of resource: Resource, _ section: Section) -> String { name(of: resource.name, section.name) }

    static func name(of resource: String, _ section: String) -> String { resource + "/" + section }

    var name: String { Self.name(of: resource, section) }
    var isRoot: Bool { section.kind == .root }
    /// True if access conditions test columns of referred rows, which no log of the section's rows contains.
    var testsReferred: Bool { conditions.contains { section.columns[$0].lookup != nil } }

    /// True if other rows or the time may decide which rows the section contains.
    ///
    /// Then a log of its rows is not enough.
    var dependsOnMore: Bool {
        guard let sql = section.visibility?.value.lowercased() else { return false }
        let joined = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ").replacing(" (", with: "(")
        return joined.split { !$0.isLetter && !$0.isNumber && !"_(@".contains($0) }.contains { word in
            let calls = word.split(separator: "(", omittingEmptySubsequences: false).dropLast()
            return calls.contains { !["", "in", "and", "or", "not", "between"].contains($0) } || word.contains("@")
                || ["select", "current_", "local", "utc_"].contains { word.contains($0) }
        }
    }

    private func columns(_ positions: [Int]) -> [Column] { positions.map { section.columns[$0] } }

    /// Returns the digest of a row with its key; nil if the key cannot be packed.
    ///
    /// - Parameter values: the values of the `kept` columns.
    func mark(_ values: ArraySlice<Value>, digest: UInt64) -> Mark? {
        guard let key = packed(keyPlaces, of: values), let link = isRoot ? [] : packed(linkPlaces, of: values) else {
            return nil
        }
        if conditionPlaces.isEmpty { return Mark(key: key, digest: digest, link: link) }
        let tuple = ConditionTuple(values: conditionPlaces.map { values[values.startIndex + $0] }, of: resource)
        return Mark(key: key, digest: digest, link: link, tag: tuple.map { ConditionTag($0.bytes) } ?? .none)
    }

    /// Packs values without intermediate arrays, because scans pack millions of rows.
    private func packed(_ places: [Int], of values: ArraySlice<Value>) -> [UInt8]? {
        var out: [UInt8] = []
        out.reserveCapacity(places.count * 10)
        for place in places {
            let column = section.columns[kept[place]]
            guard PackedValues.append(values[values.startIndex + place], of: column, to: &out) else { return nil }
        }
        return out
    }

    func packed(_ key: RecordKey) -> [UInt8]? { PackedValues.bytes(key.parts, of: columns(self.key)) }

    func key(_ bytes: [UInt8]) -> RecordKey? { PackedValues.values(bytes, of: columns(key)).map { RecordKey($0) } }

    func link(of mark: Mark) -> [Value]? {
        PackedValues.values(isRoot ? mark.key : mark.link, of: columns(link))
    }

    static func hash(link packed: [UInt8], _ key: SipHash.Key) -> UInt64 { SipHash.hash(packed, key: key) }
}

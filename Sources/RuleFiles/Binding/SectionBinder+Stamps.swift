import MergeCore
import RecordStore

/// Binds `stamp`, the columns that every insertion and update sets.
extension SectionBinder {
    mutating func stamps(key: [String], parents: Set<String>, covered: Set<String>) -> [Stamp] {
        rules.stamps.compactMap { stamp in
            if let fault = fault(of: stamp.column.value, key: key, parents: parents, covered: covered) {
                findings.error(stamp.column.place, "column “\(stamp.column.value)” cannot be stamped, because \(fault)")
                return nil
            }
            guard let position = add(stamp.column.value, stamp.column.place),
                let source = source(of: stamp, in: columns[position])
            else { return nil }
            return Stamp(column: position, source: source, rule: stamp.column.place.rule)
        }
    }

    private func fault(of name: String, key: [String], parents: Set<String>, covered: Set<String>) -> String? {
        if key.contains(name) { return "it is the key" }
        if parents.contains(name) { return "it ties the row to its record" }
        if covered.contains(name) { return "clients write it; make its field read-only" }
        if supplied.contains(name) { return "“set” of a role sets it" }
        if rules.softDelete?.assignments.contains(where: { $0.column.value == name }) == true {
            return "“delete” sets it; leave it out of “delete”"
        }
        return table.column(name)?.serverOwned
    }

    private mutating func source(of stamp: RuleStamp, in column: Column) -> Stamp.Source? {
        switch stamp.source {
        case .claim(let name): return .claim(name.value)
        case .value(let constant): return written(constant, of: column).map { .constant($0) }
        case .now:
            if column.type.storesNow || references.schema.isGuessed { return .now }
            findings.error(
                stamp.column.place,
                "column “\(column.name)” of type \(column.type.name) cannot be stamped with now, which needs a date, "
                    + "datetime, timestamp or integer of 32 bits; “read-only” can give a text column the type datetime")
            return nil
        }
    }
}

import MergeCore
import MergeService
import RecordStore

/// The comparison of a pass with delivery records.
extension SectionPass {
    /// The columns whose values the comparison needs.
    var deliveryColumns: [Int] {
        if deliveries.isEmpty { return [] }
        guard deliveries.spans.looksAtConditions else { return unit.link }
        return unit.kept + filteredColumns.subtracting(unit.kept).sorted()
    }

    /// The columns of the root that filters of clients test.
    var filteredColumns: Set<Int> { deliveries.spans.filteredColumns }

    /// Counts rows that were read with the values of `deliveryColumns`.
    mutating func countDeliveries(_ part: Range<Int>, of rows: HashedRows, naming names: RecordNames) {
        if deliveries.isEmpty { return }
        let unit = unit
        let kept = deliveryColumns
        let columns = unit.link.map { unit.section.columns[$0] }
        let places = unit.link.compactMap { kept.firstIndex(of: $0) }
        var link: [UInt8] = []
        for index in part {
            let first = index * kept.count
            link.removeAll(keepingCapacity: true)
            var isPacked = true
            for (place, column) in zip(places, columns) where isPacked {
                isPacked = PackedValues.append(rows.values[first + place], of: column, to: &link)
            }
            guard isPacked else { continue }
            countDelivery(link: link, digest: rows.digests[index], names) {
                let values = unit.conditions.compactMap { kept.firstIndex(of: $0) }.map { rows.values[first + $0] }
                return ConditionTuple(values: values, of: unit.resource)
            } value: { column in
                guard rows.unreadable[index] == nil else { return nil }
                return kept.firstIndex(of: column).map { rows.values[first + $0] }
            }
        }
    }

    /// Counts rows of which only the digests were read.
    ///
    /// - Parameter values: the values of `filteredColumns`, by column.
    mutating func countDeliveries(
        _ marks: [Mark], naming names: RecordNames, filtered values: [RecordKey: [Int: Value]]
    ) {
        if deliveries.isEmpty { return }
        let unit = unit
        for mark in marks {
            let row = values.isEmpty ? nil : unit.key(mark.key).flatMap { values[$0] }
            countDelivery(link: unit.isRoot ? mark.key : mark.link, digest: mark.digest, names) {
                ConditionTuple(bytes: mark.tag.bytes, of: unit.resource)
            } value: {
                row?[$0]
            }
        }
    }

    private mutating func countDelivery(
        link: [UInt8], digest: UInt64, _ names: RecordNames, conditions: () -> ConditionTuple?,
        value: (Int) -> Value?
    ) {
        let ranges = deliveries.count(link: ScanUnit.hash(link: link, names.hashKey), digest: digest)
        if ranges.isEmpty { return }
        let tuple = conditions()
        guard let revision = deliveries.spans.revision(of: ranges, tuple, value), let key = unit.key(link) else {
            return
        }
        missed.append(
            ForeignChange(
                name: names.name(key, unit), toldSince: revision, tags: tuple.map { [ConditionTag($0.bytes)] } ?? []))
    }

    /// The records whose rows differ from the delivered ones, after the pass.
    var outdated: [ForeignChange] {
        deliveries.different.map { noted in
            ForeignChange(
                name: RecordName(resource: unit.resource.name, record: noted.record), toldSince: noted.revision,
                shown: noted.conditions.map { ConditionTag($0) })
        }
    }
}

/// Names of records and hashes of links, as a journal stores them.
struct RecordNames: Sendable {
    let journal: Journal

    var hashKey: SipHash.Key { journal.hashKey }

    func name(_ key: RecordKey, _ unit: ScanUnit) -> RecordName {
        RecordName(resource: unit.resource.name, record: journal.codec.key(key, unit.resource.root))
    }
}

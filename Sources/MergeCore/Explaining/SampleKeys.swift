/// Reads the ids of a section's rows.
struct SampleKeys {
    let section: Section
    let side: RecordSide

    func label(_ id: Scalar?, _ path: WirePath) throws(RecordFault) -> RowLabel? {
        guard let id else { return nil }
        // No database numbers the new row, so it keeps its temporary id.
        if case .text(let text) = id, text.hasPrefix("tmp:") { return .temporary(TemporaryID(text)) }
        let parts = if case .array(let parts) = id, section.keyCount != 1 { parts } else { [id] }
        guard parts.count == section.keyCount else {
            let count = parts.count == 1 ? "one part" : "\(parts.count) parts"
            throw RecordFault(side, at: path, reason: "has \(count) but the key has \(section.keyCount)")
        }
        var values: [Value] = []
        for (part, column) in zip(parts, section.columns) {
            do throws(ValueProblem) {
                let value = try column.type.accept(part)
                guard !value.isNull else { throw ValueProblem("is null, which no key is") }
                values.append(value)
            } catch {
                throw RecordFault(side, at: path, reason: error.reason)
            }
        }
        return .key(RecordKey(values))
    }

    /// Returns the rows of a section with their unique ids; the row of a singleton has none.
    func labelled(_ rows: SampleRows) throws(RecordFault) -> [(label: RowLabel?, row: SampleRow)] {
        if let row = rows.one { return [(nil, row)] }
        var seen: Set<RowLabel> = []
        var out: [(label: RowLabel?, row: SampleRow)] = []
        for row in rows.many {
            let place = row.path.member("id")
            let label = try label(row.id, place)
            if label == nil, side != .edited { throw RecordFault(side, at: place, reason: "is missing") }
            if let label, !seen.insert(label).inserted {
                throw RecordFault(side, at: place, reason: "names an item that is in the list already")
            }
            out.append((label, row))
        }
        return out
    }
}

extension RowLabel {
    var key: RecordKey? {
        if case .key(let key) = self { key } else { nil }
    }
}

import MergeCore
import RecordStore

/// Foretelling what the records will be once the updates are written.
///
/// The answer and the entries of the journal can then be made while the database writes and reads. What counts is what is
/// read again: where it is anything else, they are made once more.
extension PushRun {
    /// Has the roots remembered, where what becomes of them is likely to be foretold.
    func mayForetell() {
        guard namesEachOnce, let resource = plan.resources.first, resource.sections.count == 1,
            WriteProof(served.schema).applies(to: [resource], dialect: dialect),
            let table = served.schema.tables[resource.root.table],
            resource.root.columns.allSatisfy({ table.column($0.name)?.serverOwned == nil })
        else { return }
        roots = Array(repeating: nil, count: reports.count)
    }

    /// The records as they will be, parallel to the reports; nil where nobody can tell.
    func foretold() -> [Record?]? {
        guard let roots else { return nil }
        var records: [Record?] = []
        records.reserveCapacity(roots.count)
        for (index, root) in roots.enumerated() {
            guard var row = root, let key = reports[index].key else {
                records.append(nil)
                continue
            }
            for meant in reports[index].meant {
                for assignment in meant.assignments {
                    guard assignment.value.isSpelledOneWay else { return nil }
                    row[assignment.column] = assignment.value
                }
            }
            records.append(Record(key: key, sections: [.one(row)]))
        }
        return records
    }
}

extension Value {
    /// Equal values look the same on the wire; there are two zeros among floating point numbers, and JSON has an order of
    /// members that means nothing.
    fileprivate var isSpelledOneWay: Bool {
        switch self {
        case .float, .double, .json: false
        default: true
        }
    }
}

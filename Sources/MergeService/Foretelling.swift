import Glibc
import MergeCore
import RecordStore
import Synchronization

/// What the records will be once the updates are written, as far as one can tell.
///
/// The answer and the entries of the journal can then be made while the database writes and reads. What counts is what is
/// read again: where it is anything else, they are made once more.
struct Foretelling {
    /// The roots that the edits were decided on, parallel to the reports.
    private var roots: [[Value]?]
    /// Columns into which the server writes the second of the update.
    private let stamps: [Int]

    /// nil where something else than the push has a say in what the rows will hold.
    ///
    /// - Parameter count: of the edits, none of which names the record of another.
    init?(_ count: Int, _ resource: Resource, _ schema: DatabaseSchema, _ dialect: Dialect) {
        guard resource.sections.count == 1, let table = schema.tables[resource.root.table],
            WriteProof(schema).applies(to: [resource], dialect: dialect)
        else { return nil }
        var stamps: [Int] = []
        for (index, column) in resource.root.columns.enumerated() {
            guard let known = table.column(column.name) else { return nil }
            if known.isStamped, column.style.fractionDigits == 0 {
                stamps.append(index)
            } else if known.serverOwned != nil {
                return nil
            }
        }
        self.stamps = stamps
        roots = Array(repeating: nil, count: count)
    }

    mutating func note(_ root: [Value]?, at index: Int) { roots[index] = root }

    /// The records as they will be, parallel to the reports; nil where nobody can tell.
    func records(_ reports: [EditReport]) -> [Record?]? {
        let now = stamps.isEmpty ? nil : Self.second
        var records: [Record?] = []
        records.reserveCapacity(roots.count)
        for (index, root) in roots.enumerated() {
            guard var row = root else {
                records.append(nil)
                continue
            }
            for meant in reports[index].meant {
                if let now { for column in stamps { row[column] = now } }
                for assignment in meant.assignments {
                    guard assignment.value.isSpelledOneWay else { return nil }
                    row[assignment.column] = assignment.value
                }
            }
            let key = reports[index].resource.root.key(of: row)
            records.append(Record(key: key, sections: [.one(row)]))
        }
        return records
    }

    /// Has the next ones go by the server's clock, where this one went by another.
    func learn(from records: [Record?], _ reports: [EditReport]) {
        guard let column = stamps.first else { return }
        for (record, report) in zip(records, reports) where !report.meant.isEmpty {
            guard case .one(let row)? = record?.sections.first, case .dateTime(let stamp)? = row?[column] else {
                continue
            }
            let second = stamp.date.dayNumber * 86_400 + Int(stamp.microseconds / 1_000_000)
            Self.skew.store(second - time(nil), ordering: .relaxed)
            return
        }
    }

    /// By how many seconds the server's clock was ahead of this machine's when that mattered last.
    private static let skew = Atomic<Int>(0)

    /// The second by the server's clock, in UTC like the sessions; by the time that counts it may be the next.
    private static var second: Value? {
        let seconds = time(nil) + skew.load(ordering: .relaxed)
        return CalendarDate(dayNumber: seconds / 86_400)
            .flatMap { DateTime(date: $0, microseconds: Int64(seconds % 86_400) * 1_000_000) }.map { .dateTime($0) }
    }
}

extension Value {
    /// Equal values look the same on the wire; floating point numbers have two zeros, JSON an order of members that means
    /// nothing, and an address of the network many spellings.
    fileprivate var isSpelledOneWay: Bool {
        switch self {
        case .float, .double, .json, .address: false
        case .null, .boolean, .integer, .decimal, .text, .members, .date, .dateTime, .time, .bytes: true
        }
    }
}

extension PushRun {
    /// Has the roots remembered, where what becomes of them is likely to be foretold.
    func beginForetelling() {
        guard namesEachOnce, let resource = plan.resources.first else { return }
        foretelling = Foretelling(reports.count, resource, served.schema, dialect)
    }
}

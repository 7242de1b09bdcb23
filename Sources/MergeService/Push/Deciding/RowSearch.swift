import MergeCore
import RecordStore

/// Finds the row of an edit among the facts.
///
/// It is pure: it reads the facts and changes nothing.
struct RowSearch {
    /// The result of a search.
    struct Result {
        let row: FoundRow
        /// The last known values of a missing row that the edit restores.
        var known: LastKnown?
        /// True if a creation found the row by its natural key.
        var isIdentified = false

        init(_ state: FoundRow.State, item: RowLabel? = nil) { row = FoundRow(state, item: item) }
    }

    let row: EditedRow
    let action: RowAction
    /// The record's own row; nil if it does not exist for the client.
    let root: [Value]?
    /// The report of the edit before this row.
    let report: EditReport
    let facts: FactView

    private var section: Section { row.section }
    private var run: RunEnvironment { facts.run }
    private var isDependent: Bool { facts.keys.areMissing(for: row.edit) }
    private var rights: RowRights { RowRights(of: run.view(of: row.index), before: facts.before) }

    /// Searches the row.
    ///
    /// - Throws: a refusal if the row is hidden from the client, or several rows have the natural key.
    func result() throws(DecidingStop) -> Result {
        // A creation that depends on a missing row is not searched by its identity.
        if isDependent, row.edit.isCreation { return uncreated }
        return section.kind == .root ? try rootRow() : try part()
    }

    /// A creation that depends on a missing row; an existing row is found, so that the answer contains it.
    private var uncreated: Result {
        if section.kind == .root { return Result(root.map { .present($0) } ?? .unreachable) }
        return Result(.unreachable, item: section.kind == .list ? sentLabel : nil)
    }

    private var sentLabel: RowLabel? {
        row.edit.id?.key.map { .key($0) } ?? row.edit.id?.temporary.map { .temporary($0) }
    }

    /// True for an edit of a row that an earlier edit did not create; without a key it cannot be restored.
    private var isNowhere: Bool {
        guard case .edit = row.edit.action, let id = row.edit.id else { return false }
        return facts.keys.settled(id) == nil
    }

    // MARK: The root

    private func rootRow() throws(DecidingStop) -> Result {
        if let root { return Result(.present(root)) }
        if let found = try identified() { return found }
        if isNowhere || !rights.mayBringBack(row) { return Result(.unreachable) }
        let known = try facts.lastKnown(row, key: nil, in: report.key)
        if let known, rights.hid(known, of: row) { return Result(.unreachable) }
        var result = Result(.gone(lastKnown: known?.fields ?? [:]))
        result.known = known
        return result
    }

    // MARK: Other rows

    private func part() throws(DecidingStop) -> Result {
        let key = row.edit.id.flatMap { facts.keys.settled($0) }
        let isList = section.kind == .list
        let item = isList ? key.map { RowLabel.key($0) } : nil
        guard let root else { return Result(.unreachable, item: isList ? item ?? sentLabel : nil) }
        if let key { try check(key, belongsTo: root) }
        if isList {
            if let found = try self.item(key, of: root) { return found }
            if isNowhere { return Result(.unreachable, item: item) }
        } else if let found = try facts.singleton(row.place, of: root) {
            return Result(.present(found))
        }
        let known = try facts.lastKnown(row, key: key, in: report.key, of: root)
        if known?.isForeign == true { return Result(.unreachable, item: item) }
        var result = Result(.gone(lastKnown: known?.fields ?? [:]), item: item)
        result.known = known
        return result
    }

    private func item(_ key: RecordKey?, of root: [Value]) throws(DecidingStop) -> Result? {
        let found = try facts.row(key, of: row.place, equated: row.edit.isCreation)
        if let found, section.parent.allSatisfy({ found[$0.column] == root[$0.rootColumn] }) {
            return Result(.present(found), item: .key(section.key(of: found)))
        }
        if row.edit.id?.isSuspect == true { throw .fault(.unknownTemporary(row.edit.path)) }
        return try identified()
    }

    /// Refuses an item key that contains the key of another record.
    private func check(_ key: RecordKey, belongsTo root: [Value]) throws(DecidingStop) {
        for link in section.parent
        where link.column < section.keyCount && key.parts[link.column] != root[link.rootColumn] {
            throw .fault(
                Problem(
                    .invalid, about: .contradictoryKey,
                    detail: "The item's key names another record than the edit.",
                    path: row.edit.path.member("id")))
        }
    }

    // MARK: Identity

    /// Returns the row with the natural key of a creation; the creation's temporary id then refers to it.
    ///
    /// - Returns: nil if the section has no natural key, the client did not send all of it, or no row has it.
    private func identified() throws(DecidingStop) -> Result? {
        guard let identity = section.identity?.value, case .create(let new) = action else { return nil }
        var columns: [Int] = []
        var tuple: [Value] = []
        for column in identity + section.parent.map(\.column) where !columns.contains(column) {
            guard let value = value(of: column, new), !value.isNull else { return nil }
            columns.append(column)
            tuple.append(value)
        }
        let rows = try facts.rows(of: row.place, identifiedBy: columns, tuple)
        // Hidden rows count only if the client may see no row with this key.
        let view = section.kind == .root ? run.view(of: row.index) : nil
        let seen = view.map { view in rows.filter { view.shows($0) } } ?? rows
        guard let found = seen.first ?? rows.first else { return nil }
        let fields = section.fields.filter { identity.contains($0.column) }.map(\.name)
        if seen.count > 1 { throw .refused(ambiguous(fields)) }
        let isHidden = seen.isEmpty ? true : try facts.isHidden(found, of: row.place)
        if isHidden { throw .refused(hidden(fields, identity: identity)) }
        var result = Result(
            .present(found), item: section.kind == .list ? .key(section.key(of: found)) : nil)
        result.isIdentified = true
        return result
    }

    /// Returns a column's value of the new row, if the client or its record determines it.
    private func value(of column: Int, _ new: FieldValues) -> Value? {
        if let claimed = rights.claimed(by: row)?.first(where: { $0.column == column }) { return claimed.value }
        if let link = section.parent.first(where: { $0.column == column }) { return root?[link.rootColumn] }
        if column < section.keyCount {
            guard let id = row.edit.id, id.parts.indices.contains(column) else { return nil }
            return facts.keys.value(of: id.parts[column])
        }
        return zip(new.fields, new.values).first { section.fields[$0.0].column == column }?.1
    }

    private func ambiguous(_ fields: [String]) -> Problem {
        Problem(
            .ambiguousIdentity,
            detail: "The rules identify a new row by these fields, and several rows have these values.",
            path: row.edit.path, retry: .never, fields: fields)
    }

    private func hidden(_ fields: [String], identity: [Int]) -> Problem {
        let names = Set((identity + section.parent.map(\.column)).map { section.columns[$0].name })
        let index = run.active.schema.tables[section.table]?.uniqueIndexes.first { Set($0.columns).isSubset(of: names) }
        var problem = Problem(
            .unique, about: .otherRow, detail: "A row that is hidden from clients has these values.",
            path: row.edit.path, retry: .never, fields: fields)
        problem.index = index?.name ?? "identity"
        return problem
    }
}

extension Problem {
    static func unknownTemporary(_ path: WirePath) -> Problem {
        Problem(
            .unknownTemporary,
            detail: "Negative ids are temporary. No edit of this push creates this one.", path: path.member("id"))
    }
}

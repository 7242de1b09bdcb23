import Foundation
import GRDB

/// Parts of refused pushes.
extension Ledger {
    /// Returns the paths of the groups that the refusal of a push names.
    func faultyPaths(of edits: [StoredEdit], results: [JSONValue], problem: JSONValue) throws -> [JSONValue] {
        var paths: [String] = []
        for (index, edit) in edits.enumerated() {
            guard let known = try known(edit.resource) else { continue }
            let result = results.indices.contains(index) ? results[index] : .null
            var told = result["problem"]
            // A request that was refused as a whole names the edit in the path.
            if told.isNull, results.isEmpty, Self.index(in: problem) == index { told = problem }
            for path in edit.changes.faultyPaths(result: result, problem: told, of: known) where !paths.contains(path) {
                paths.append(path)
            }
        }
        return paths.map(JSONValue.string)
    }

    private static func index(in problem: JSONValue) -> Int {
        let parts = (problem["path"].stringValue ?? "").components(separatedBy: "edits[")
        return parts.dropFirst().first.flatMap { Int($0.prefix(while: \.isNumber)) } ?? 0
    }

    /// Keeps parts of a refused push in the list, so that the others can be sent.
    ///
    /// A row that uses an omitted row is omitted too.
    ///
    /// - Returns: the temporary ids of the omitted rows; nil if the push is not refused any more.
    ///
    /// - Throws: `InvalidEdit` for an unknown path, `FieldMergeError.nothingLeft`.
    func split(_ push: Int64, without paths: [String]) throws -> Set<String>? {
        guard try state(of: push) == .refused else { return nil }
        guard !paths.isEmpty else { return [] }
        let edits = try edits(of: push)
        var kept = edits.map(\.changes.rows)
        var left: [[RowChange]] = edits.map { _ in [] }
        for text in paths {
            var fault: InvalidEdit?
            var isFound = false
            for (index, edit) in edits.enumerated() {
                guard let known = try known(edit.resource) else { continue }
                do throws(InvalidEdit) {
                    let path = try PartPath(text, of: known)
                    let parts = kept[index].map { path.divide($0, known.section(named: $0.section)) }
                    kept[index] = parts.compactMap(\.kept)
                    left[index] += parts.compactMap(\.left)
                    isFound = isFound || parts.contains { $0.left != nil }
                } catch { fault = fault ?? error }
            }
            guard isFound else { throw fault ?? InvalidEdit(path: text, detail: "the edit has no such part") }
        }
        while try leaveDependents(of: &left, in: &kept, edits) {}
        guard kept.contains(where: { !$0.isEmpty }) else { throw FieldMergeError.nothingLeft }
        try keepRefused(left, of: push, edits)
        for (edit, rows) in zip(edits, kept) { try replaceChanges(push, edit.place, with: RecordChanges(rows)) }
        return try createdIDs(of: left, edits)
    }

    private func createdIDs(of parts: [[RowChange]], _ edits: [StoredEdit]) throws -> Set<String> {
        var made: Set<String> = []
        for (edit, rows) in zip(edits, parts) {
            let root = try known(edit.resource)?.root.name ?? ""
            made.formUnion(RecordChanges(rows).createdIDs(of: edit.id, root: root))
        }
        return made
    }

    /// Moves the rows that use an omitted row to it; returns whether there were any.
    private func leaveDependents(
        of left: inout [[RowChange]], in kept: inout [[RowChange]], _ edits: [StoredEdit]
    ) throws -> Bool {
        let made = try createdIDs(of: left, edits)
        var isMoved = false
        for (index, edit) in edits.enumerated() {
            let moved = kept[index].filter { !RecordChanges([$0]).usedIDs(with: edit.id).isDisjoint(with: made) }
            guard !moved.isEmpty else { continue }
            isMoved = true
            left[index] += moved
            kept[index].removeAll { moved.contains($0) }
        }
        return isMoved
    }

    /// Adds an entry with the problem of a refused push for parts of its edits.
    func keepRefused(_ parts: [[RowChange]], of push: Int64, _ edits: [StoredEdit]) throws {
        let row = try row("SELECT refusal, atomic, rules FROM push WHERE seq = ?", [push])
        guard var refusal = (row?[0] as String?).flatMap({ JSONValue(text: $0) }) else { return }
        let left = zip(edits, parts).filter { !$1.isEmpty }
        let entry = try append(
            left.map { QueuedPart(resource: $0.resource, id: $0.id, changes: RecordChanges($1)) },
            (row?[1] as String?).flatMap(Atomicity.init))
        let fault = left.firstIndex { .integer(Int128($0.0.place)) == refusal["fault"] } ?? 0
        refusal["fault"] = .integer(Int128(fault))
        try write(
            "UPDATE push SET state = 3, key = NULL, rules = ?, refusal = ? WHERE seq = ?",
            [row?[2] as String?, refusal.text, entry])
        try write("DELETE FROM creation WHERE push = ?", [entry])
    }
}

import MergeCore

/// Reads the id of a row in an edit.
struct RowIDDecoder {
    let resource: Resource
    let section: Section
    let created: CreatedIDs
    let row: WirePath

    /// Computed only for errors.
    private var path: WirePath { row.member("id") }

    /// Reads an id, in an item with the id of its record.
    func decode(_ node: JSONNode?, isCreation: Bool, record: RowID?) throws(Problem) -> RowID {
        guard let node else { return try omitted(isCreation) }
        if node.isArray {
            let parts = node.elements
            guard parts.count == section.keyCount, section.keyCount > 1 else { throw malformed("\(parts.count) parts") }
            var out: [KeyPart] = []
            var temporary: TemporaryID?
            var isSuspect = false
            for (column, node) in parts.enumerated() {
                let part = try self.part(node.scalar, column: column, isCreation: isCreation, at: path.element(column))
                out.append(part.part)
                temporary = temporary ?? part.temporary
                isSuspect = isSuspect || part.isSuspect
            }
            return try checked(RowID(parts: out, temporary: temporary, isSuspect: isSuspect), record: record)
        }
        guard section.keyCount == 1 else {
            // A temporary id may replace the whole key. The other parts come from the record.
            if isCreation, let temporary = CreatedIDs.temporary(node, in: section) {
                try temporary.checkLength(path)
                guard isNumberedCompletely else { throw needsArray(temporary) }
                return RowID(parts: Array(repeating: .generated, count: section.keyCount), temporary: temporary)
            }
            if let id = CreatedIDs.temporary(node.scalar, isGenerated: false) {
                if let key = created.earlierKey(id, in: section.table) {
                    return try checked(RowID(key), record: record)
                }
                if created.wasRefused(id) {
                    return RowID(parts: Array(repeating: .temporary(id), count: section.keyCount))
                }
            }
            if let id = CreatedIDs.temporary(node, in: section), let table = created[id] {
                guard table == section.table else { throw needsArray(id) }
                let parts = (0..<section.keyCount).map { KeyPart.created(id, part: $0) }
                return try checked(RowID(parts: parts), record: record)
            }
            throw malformed("one part")
        }
        let part = try self.part(node.scalar, column: 0, isCreation: isCreation, at: path)
        let id =
            if case .value(let value) = part.part, !part.isSuspect {
                RowID(RecordKey([value]))
            } else {
                RowID(parts: [part.part], temporary: part.temporary, isSuspect: part.isSuspect)
            }
        return try checked(id, record: record)
    }

    private func malformed(_ has: String) -> Problem {
        Problem(.malformedID, detail: "The id has \(has) but the key has \(section.keyCount).", path: path)
    }

    private func needsArray(_ id: TemporaryID) -> Problem {
        let parts = (0..<section.keyCount).map { column in
            column == section.generatedKeyColumn ? "“\(id)”" : section.columns[column].name
        }
        return Problem(
            .malformedID,
            detail: "The key has \(section.keyCount) columns. Send the array [\(parts.joined(separator: ", "))] as id.",
            path: path)
    }

    /// True if all parts of a new row's key come from its record or are numbered.
    private var isNumberedCompletely: Bool {
        let parents = Set(section.parent.map(\.column))
        return (0..<section.keyCount).allSatisfy { $0 == section.generatedKeyColumn || parents.contains($0) }
    }

    private func omitted(_ isCreation: Bool) throws(Problem) -> RowID {
        guard isCreation, isNumberedCompletely else {
            throw Problem(
                .missingID,
                detail: isCreation
                    ? "The key is not AUTO_INCREMENT, so the client gives it." : "The row that is edited needs its id.",
                path: path)
        }
        return RowID(parts: Array(repeating: .generated, count: section.keyCount))
    }

    private func part(
        _ scalar: Scalar, column: Int, isCreation: Bool, at path: @autoclosure () -> WirePath
    ) throws(Problem) -> (part: KeyPart, temporary: TemporaryID?, isSuspect: Bool) {
        let isGenerated = section.generatedKeyColumn == column
        let isParent = section.parent.contains { $0.column == column }
        if let temporary = CreatedIDs.temporary(scalar, isGenerated: isGenerated || isParent) {
            try temporary.checkLength(path())
            if isCreation, isGenerated { return (.generated, temporary, false) }
            if let table = created[temporary], !isGenerated || table == section.table {
                return (.temporary(temporary), nil, false)
            }
            if let value = created.earlierKey(temporary, in: isGenerated ? section.table : nil)?.parts.last {
                return (.value(value), nil, false)
            }
            if created.wasRefused(temporary) { return (.temporary(temporary), nil, false) }
            if temporary.isMarked {
                throw Problem(
                    .unknownTemporary,
                    detail: isCreation
                        ? "The key is not AUTO_INCREMENT, so the client gives it; “\(temporary)” is temporary."
                        : "This push does not create a row with the temporary id “\(temporary)”.", path: path())
            }
            return (.value(try value(scalar, of: column, at: path())), nil, isGenerated)
        }
        let value = try value(scalar, of: column, at: path())
        // A parent column has the value of its record.
        if isCreation, !isParent, let problem = section.columns[column].type.forbidsWriting(value) {
            throw Problem(.malformedID, detail: "“\(path())” \(problem.reason).", path: path())
        }
        return (.value(value), nil, false)
    }

    private func value(
        _ scalar: Scalar, of column: Int, at path: @autoclosure () -> WirePath
    ) throws(Problem) -> Value {
        do throws(ValueProblem) {
            return try section.columns[column].keyValue(scalar)
        } catch {
            let place = path()
            throw Problem(.malformedID, detail: "“\(place)” \(error.reason).", path: place)
        }
    }

    /// Checks that the key agrees with the record, from which an item's parent columns come.
    private func checked(_ id: RowID, record: RowID?) throws(Problem) -> RowID {
        guard let record else { return id }
        for link in section.parent where link.column < section.keyCount && link.rootColumn < record.parts.count {
            let own = id.parts[link.column]
            let root = record.parts[link.rootColumn]
            // The push compares the parts of created keys when it has them.
            if case .created = own { continue }
            if case .created = root { continue }
            if own == .generated || own == root { continue }
            if root == .generated, let temporary = record.temporary, own == .temporary(temporary) { continue }
            throw Problem(
                .invalid, about: .contradictoryKey,
                detail: "The item's key names another record than the edit.", path: path)
        }
        return id
    }
}

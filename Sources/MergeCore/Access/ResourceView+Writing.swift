/// Rights to write, judged by names alone or on a row.
extension ResourceView {
    /// Returns the roles that may write a group.
    ///
    /// - Parameter section: the position of the section in the resource.
    package func writers(ofGroup group: Int, in section: Int) -> GrantSet {
        let fields = resource.sections[section].groups[group].positions
        return roles { $0.writes(fields, in: section, of: self.resource) }
    }

    /// Returns the roles that may create and delete rows of a section that is not the root: those that write all of it.
    package func writers(ofSection section: Int) -> GrantSet {
        let shape = resource.sections[section]
        return roles {
            $0.writes[section].isGiven && $0.writes(Array(shape.fields.indices), in: section, of: self.resource)
        }
    }

    /// The roles that may delete records.
    package var deleters: GrantSet { roles { $0.deletes } }

    /// Returns the roles that may create a record with some fields of the root.
    package func creators(with fields: [Int]) -> GrantSet {
        roles { $0.creates && $0.writes(fields, in: 0, of: self.resource) }
    }

    private func roles(where isIn: (RoleRule) -> Bool) -> GrantSet {
        var found = GrantSet.none
        for (position, grant) in grants.enumerated() where isIn(grant.role) { found.insert(position) }
        return found
    }

    /// Returns the roles that each thing needs which a row's edit wishes to write; one of each has to hold on the row
    /// before and after.
    ///
    /// - Parameters:
    ///   - isThere: the row is known to exist, so that its creation is an edit.
    ///   - among: the roles that hold on the row; `.all` where rights are judged by names alone.
    /// - Throws: a 403 `Problem` with the path of what no role allows.
    package func needs(
        of row: RowEdit, isThere: Bool = false, among held: GrantSet = .all
    ) throws(Problem) -> [GrantSet] {
        switch row.action {
        case .edit(let groups):
            return try groups.map { edit throws(Problem) in
                try some(writers(ofGroup: edit.group, in: row.section), held, path: edit.path)
            }
        case .create(let new): return try needs(creating: new, row, isThere: isThere, among: held)
        case .delete:
            let deleters = row.section == 0 ? deleters : writers(ofSection: row.section)
            return [try some(deleters, held, path: row.path)]
        }
    }

    private func needs(
        creating new: FieldValues, _ row: RowEdit, isThere: Bool, among held: GrantSet
    ) throws(Problem) -> [GrantSet] {
        let section = resource.sections[row.section]
        let path = row.path.member("new")
        if isThere {
            var needs: [GrantSet] = []
            for (index, group) in section.groups.enumerated() {
                guard let field = new.fields.first(where: { group.fields.contains($0) }) else { continue }
                let writers = writers(ofGroup: index, in: row.section)
                needs.append(try some(writers, held, path: path.member(section.fields[field].name)))
            }
            return needs
        }
        if row.section > 0 { return [try some(writers(ofSection: row.section), held, path: row.path)] }
        _ = try some(creators(with: []), held, path: row.path)
        for field in new.fields {
            _ = try some(creators(with: [field]), held, path: path.member(section.fields[field].name))
        }
        return [try some(creators(with: new.fields), held, path: row.path)]
    }

    private func some(_ set: GrantSet, _ held: GrantSet, path: WirePath) throws(Problem) -> GrantSet {
        let left = set.intersection(held)
        guard !left.isEmpty else {
            throw Problem(
                .noRight, detail: "The rules do not let this client write here.", path: path, retry: .never)
        }
        return left
    }

    /// Checks an edit by the names in it, without any row.
    ///
    /// - Throws: a 403 `Problem` with the path of what no role of the client allows.
    package func check(_ edit: Edit) throws(Problem) {
        guard !isClosed else {
            throw Problem(
                .noRight, detail: "The rules do not show this client the resource “\(resource.name)”.",
                path: edit.path, retry: .never)
        }
        for row in edit.rows { _ = try needs(of: row) }
    }
}

extension RoleRule {
    /// Returns true where the role writes some fields, none of which it takes from a claim.
    ///
    /// - Parameter fields: positions in the section's `fields`.
    fileprivate func writes(_ fields: [Int], in section: Int, of resource: Resource) -> Bool {
        let rights = writes[section]
        guard rights.isGiven || fields.isEmpty else { return false }
        let shape = resource.sections[section]
        return fields.allSatisfy { field in
            rights.fields[field] && !(section == 0 && sets.contains { $0.column == shape.fields[field].column })
        }
    }
}

/// Rights to write, from names alone or for a row.
extension ResourceView {
    /// Returns the roles that may write a group in the section at this position.
    package func writers(ofGroup group: Int, in section: Int) -> GrantSet {
        let fields = resource.sections[section].groups[group].positions
        return roles { $0.may($0.writes, fields, in: section, of: self.resource) }
    }

    /// Returns the roles that may delete rows of a section other than the root.
    ///
    /// These are the roles that may write all of its fields.
    package func deleters(ofSection section: Int) -> GrantSet {
        roles { $0.may($0.writes, allOf: section, of: self.resource) }
    }

    /// Returns the roles that may create rows of a section other than the root.
    ///
    /// These are the roles that may set all of its fields in new rows.
    package func creators(ofSection section: Int) -> GrantSet {
        roles { $0.may($0.initial, allOf: section, of: self.resource) }
    }

    /// Returns true if the client may set a group in some new row.
    package func creates(group: Int, in section: Int) -> Bool {
        let fields = resource.sections[section].groups[group].positions
        return !roles { role in
            role.may(role.initial, fields, in: section, of: self.resource)
                && (section == 0 ? role.creates : role.may(role.initial, allOf: section, of: self.resource))
        }.isEmpty
    }

    /// The roles that may delete records.
    package var deleters: GrantSet { roles { $0.deletes } }

    /// Returns the roles that may create a record with these fields of the root.
    package func creators(with fields: [Int]) -> GrantSet {
        roles { $0.creates && $0.may($0.initial, fields, in: 0, of: self.resource) }
    }

    private func roles(where isIn: (RoleRule) -> Bool) -> GrantSet {
        var found = GrantSet.none
        for (position, grant) in grants.enumerated() where isIn(grant.role) { found.insert(position) }
        return found
    }

    /// Returns, for each part of a row's edit, the roles of `among` that allow it.
    ///
    /// For each part, one of its roles has to apply to the row before and after the edit. If the row exists
    /// (`isThere`), its creation is an edit.
    ///
    /// - Throws: a 403 `Problem` with the path of the part that no role allows.
    package func needs(
        of row: RowEdit, isThere: Bool = false, among held: GrantSet = .all
    ) throws(Problem) -> [GrantSet] {
        switch row.action {
        case .edit(let groups):
            return try groups.map { edit throws(Problem) in
                try some(writers(ofGroup: edit.group, in: row.section), held: held, path: edit.path)
            }
        case .create(let new): return try needs(creating: new, row, isThere: isThere, among: held)
        case .delete:
            let deleters = row.section == 0 ? deleters : deleters(ofSection: row.section)
            return [try some(deleters, held: held, path: row.path)]
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
                needs.append(try some(writers, held: held, path: path.member(section.fields[field].name)))
            }
            return needs
        }
        if row.section > 0 { return [try some(creators(ofSection: row.section), held: held, path: row.path)] }
        _ = try some(creators(with: []), held: held, path: row.path)
        for field in new.fields {
            _ = try some(creators(with: [field]), held: held, path: path.member(section.fields[field].name))
        }
        return [try some(creators(with: new.fields), held: held, path: row.path)]
    }

    private func some(_ set: GrantSet, held: GrantSet, path: WirePath) throws(Problem) -> GrantSet {
        let left = set.intersection(held)
        guard !left.isEmpty else {
            throw Problem(
                .noRight, detail: "The rules do not allow this client to write this.", path: path, retry: .never)
        }
        return left
    }

    /// Checks an edit by its names, without any row.
    ///
    /// - Throws: a 403 `Problem` with the path of the part that no role of the client allows.
    package func check(_ edit: Edit) throws(Problem) {
        guard !isClosed else {
            throw Problem(
                .noRight, detail: "The rules do not allow this client to read the resource “\(resource.name)”.",
                path: edit.path, retry: .never)
        }
        for row in edit.rows { _ = try needs(of: row) }
    }
}

extension RoleRule {
    /// Returns true if these rights of the role cover the fields and no claim sets one of them.
    fileprivate func may(
        _ rights: [SectionRights], _ fields: [Int], in section: Int, of resource: Resource
    ) -> Bool {
        let rights = rights[section]
        guard rights.isGiven || fields.isEmpty else { return false }
        let shape = resource.sections[section]
        return fields.allSatisfy { field in
            rights.fields[field] && !(section == 0 && sets.contains { $0.column == shape.fields[field].column })
        }
    }

    fileprivate func may(_ rights: [SectionRights], allOf section: Int, of resource: Resource) -> Bool {
        rights[section].isGiven
            && may(rights, Array(resource.sections[section].fields.indices), in: section, of: resource)
    }
}

/// Sorts a record in the form of `GET /v1/records` (Protocol.md, section 3) by sections and fields.
struct SampleReader {
    let resource: Resource
    let side: RecordSide

    /// Returns the record, or nil for `null`.
    func read(_ scalar: Scalar) throws(RecordFault) -> SampleRecord? {
        if scalar == .null { return nil }
        let top = WirePath("")
        guard case .object(let members) = scalar else {
            throw RecordFault(
                side, at: top, reason: "is \(scalar.kind); an object with “id” and the sections is needed, or null"
            )
        }
        var sections: [Int: SampleRows] = [:]
        for member in members where member.name != "id" {
            guard let index = resource.section(named: member.name) else {
                throw unknown(member.name, what: "section", at: top, among: resource.sections.map(\.name))
            }
            sections[index] = try rows(member.value, of: resource.sections[index], at: top.member(member.name))
        }
        return SampleRecord(id: members.first { $0.name == "id" }?.value, sections: sections)
    }

    private func rows(_ scalar: Scalar, of section: Section, at path: WirePath) throws(RecordFault) -> SampleRows {
        switch section.kind {
        case .root:
            if scalar == .null {
                throw RecordFault(
                    side, at: path, reason: "is null. If the record does not exist, the whole file is null")
            }
            return .one(try row(scalar, of: section, at: path))
        case .singleton: return .one(scalar == .null ? nil : try row(scalar, of: section, at: path))
        case .list:
            guard case .array(let elements) = scalar else {
                throw RecordFault(side, at: path, reason: "is \(scalar.kind); an array of items is needed")
            }
            var rows: [SampleRow] = []
            for (index, element) in elements.enumerated() {
                rows.append(try row(element, of: section, at: path.element(index)))
            }
            return .many(rows)
        }
    }

    private func row(_ scalar: Scalar, of section: Section, at path: WirePath) throws(RecordFault) -> SampleRow {
        guard case .object(let members) = scalar else {
            throw RecordFault(side, at: path, reason: "is \(scalar.kind); an object of fields is needed")
        }
        var id: Scalar?
        var values: [Int: Scalar] = [:]
        var readOnly: [Int: Scalar] = [:]
        for member in members {
            if section.kind == .list, member.name == "id" {
                id = member.value
            } else if let field = section.field(named: member.name) {
                values[field] = member.value
            } else if let field = section.readOnlyField(named: member.name) {
                readOnly[field] = member.value
            } else {
                throw unknownField(member.name, of: section, at: path)
            }
        }
        return SampleRow(id: id, values: values, readOnly: readOnly, path: path)
    }

    private func unknownField(_ name: String, of section: Section, at path: WirePath) -> RecordFault {
        // Edits name groups but records name fields, so a mistake is likely.
        if let group = section.group(named: name) {
            let fields = section.fields[section.groups[group].fields].map { "“\($0.name)”" }
            return RecordFault(
                side, at: path.member(name),
                reason: "is a group; a record contains its fields: \(fields.joined(separator: ", "))")
        }
        let names = section.fields.map(\.name) + section.readOnly.map(\.name)
        return unknown(name, what: "field", at: path, among: names)
    }

    private func unknown(_ name: String, what: String, at path: WirePath, among names: [String]) -> RecordFault {
        RecordFault(
            side, at: path.member(name), reason: "is no \(what) here\(NearestName.hint(for: name, among: names))")
    }
}

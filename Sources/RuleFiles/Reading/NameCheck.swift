import MergeCore

/// Checks the names in a rule file that denote other parts of the same file, which needs no schema.
struct NameCheck {
    private let file: RuleFile
    private(set) var findings = Findings()

    init(_ file: RuleFile) {
        self.file = file
        for section in file.sections {
            for group in section.groups { checkMerge(of: group) }
            for check in section.checks { checkFields(of: check, in: section) }
        }
        for role in file.access?.roles ?? [] {
            for scope in [role.read, role.write ?? .all, .names(role.initial)] {
                guard case .names(let names) = scope else { continue }
                for name in names { checkPart(name) }
            }
        }
    }

    private mutating func checkMerge(of group: RuleGroup) {
        guard let merge = group.merge else { return }
        let fields = group.fields.map(\.name.value)
        let function: String
        switch merge.value {
        case .latest(let field):
            if !fields.contains(field.value) {
                findings.error(
                    field.place,
                    "group “\(group.name.value)” has no field “\(field.value)”; “latest” needs the timestamp in the group "
                        + "itself" + nearest(field.value, fields))
            }
            return
        case .plain(let plain): function = plain.rawValue
        case .json: function = "json"
        }
        if fields.count > 1 {
            findings.error(
                merge.place,
                "“merge: \(function)” merges one value, but group “\(group.name.value)” has \(fields.count) fields; give "
                    + "the field a group of its own")
        }
    }

    private mutating func checkFields(of check: RuleCheck, in section: RuleSection) {
        let fields = section.groups.flatMap { $0.fields.map(\.name.value) }
        for name in check.fields where !fields.contains(name.value) {
            if let group = section.groups.first(where: { $0.name.value == name.value }) {
                findings.error(
                    name.place,
                    "“\(name.value)” is a group; name its fields "
                        + group.fields.map(\.name.value).joined(separator: ", "))
            } else {
                findings.error(
                    name.place,
                    "the section has no field “\(name.value)” that clients write" + nearest(name.value, fields))
            }
        }
    }

    /// Checks a name of a right: a section, or a group or read-only field of a section.
    private mutating func checkPart(_ name: Placed<String>) {
        let sections = file.sections.map { (name: $0.name.value, parts: Self.parts(of: $0)) }
        if sections.contains(where: { $0.name == name.value }) { return }
        if let section = sections.first(where: { name.value.hasPrefix($0.name + ".") }) {
            let part = String(name.value.dropFirst(section.name.count + 1))
            if section.parts.contains(part) { return }
            findings.error(
                name.place,
                "section “\(section.name)” has no group and no read-only field “\(part)”" + nearest(part, section.parts)
            )
            return
        }
        let addresses =
            sections.map(\.name)
            + sections.flatMap { section in
                section.parts.map { section.name + "." + $0 }
            }
        findings.error(
            name.place, "no section “\(name.value.prefix { $0 != "." })”" + nearest(name.value, addresses))
    }

    private static func parts(of section: RuleSection) -> [String] {
        section.groups.map(\.name.value) + section.readOnly.map(\.name.value) + section.lookups.map(\.name.value)
    }
}

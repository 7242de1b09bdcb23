import MergeCore
import RecordStore

/// Advice about lookups with columns of rows that a role cannot read as records.
struct LookupAdvice {
    let files: [RuleFile]
    /// Parallel to the files.
    let resources: [Resource]

    func add(to findings: inout Findings) {
        for (file, resource) in zip(files, resources) {
            for (rules, section) in zip(file.sections, resource.sections.indices) {
                for rule in rules.lookups { add(rule, of: section, in: resource, to: &findings) }
            }
        }
    }

    private func add(_ rule: RuleLookup, of position: Int, in resource: Resource, to findings: inout Findings) {
        let section = resource.sections[position]
        guard let field = section.readOnlyField(named: rule.name.value),
            let step = section.columns[section.readOnly[field].column].lookup
        else { return }
        for role in resource.access?.roles ?? [] {
            let rights = role.reads[position]
            guard rights.isGiven, rights.fields[section.fields.count + field], isHidden(step, from: role) else {
                continue
            }
            findings.warning(
                rule.name.place,
                "role “\(role.name.string)” reads “\(rule.name.value)” also from rows of “\(step.table)” that no resource shows "
                    + "to it; leave “\(section.name).\(rule.name.value)” out of “read” if it must not")
        }
    }

    /// Returns true if resources contain the referred table, and none shows the column of every row to a role.
    private func isHidden(_ step: ReferenceStep, from role: RoleRule) -> Bool {
        var isContained = false
        for resource in resources {
            for (position, section) in resource.sections.enumerated() where section.table == step.table {
                guard let access = resource.access else { return false }
                isContained = true
                let shows = access.roles.contains { other in
                    other.name == role.name && other.conditions.isEmpty && other.reads[position].isGiven
                        && section.shown.indices.contains { place in
                            section.columns[section.shown[place].column].name == step.column.name
                                && other.reads[position].fields[place]
                        }
                }
                if shows { return false }
            }
        }
        return isContained
    }
}

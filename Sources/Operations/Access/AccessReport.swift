package import MergeCore

/// Reports a client's rights on a record, and the rule lines that grant or refuse them.
package struct AccessReport: Sendable {
    private let resource: Resource
    private let view: ResourceView?
    private let record: Record?
    private let name: String

    /// - Parameter name: of the record, as the operator spelled it.
    /// - Parameter record: nil if there is none.
    package init(_ resource: Resource, name: String, record: Record?, viewer: Viewer) {
        self.resource = resource
        self.name = name
        self.record = record
        view = viewer.view(of: resource)
    }

    /// The lines of the report.
    package var lines: [String] {
        guard let view else { return ["\(name): the resource has no “access”, so every token reads and writes it"] }
        guard let access = resource.access else { return [] }
        var lines: [String] = []
        let named = access.roles.filter { view.viewer.roles.contains($0.name) }
        if named.isEmpty {
            let roles = access.roles.map { "“\($0.name)” (\($0.rule))" }.joined(separator: ", ")
            return ["\(name): not seen: the token has none of the roles \(roles)"]
        }
        guard case .one(let root?)? = record?.sections.first else {
            lines.append("\(name): the record does not exist. The rights of the roles on records that they read:")
            for explained in view.explanations(on: nil) { lines += describe(explained) }
            return lines + creation(view)
        }
        let explanations = view.explanations(on: root)
        let shown = explanations.filter(\.isMet)
        lines.append(
            shown.isEmpty
                ? "\(name): hidden: no role of the token applies to the row"
                : "\(name): seen as " + shown.map { "“\($0.role.name)” (\($0.role.rule))" }.joined(separator: ", "))
        for explained in explanations { lines += describe(explained) }
        return lines + creation(view)
    }

    private func describe(_ explained: ResourceView.Explanation) -> [String] {
        let role = explained.role
        var lines = ["  role “\(role.name)” (\(role.rule)): " + (explained.isMet ? "holds" : "does not hold")]
        for failure in explained.failures { lines.append("    \(failure)") }
        guard explained.isMet else { return lines }
        lines.append("    reads  " + names(role.reads, isWriting: false))
        lines.append("    writes " + names(role.writes, isWriting: true))
        if role.initial != role.writes { lines.append("    sets in new rows " + names(role.initial, isWriting: true)) }
        lines.append("    deletes the record: " + (role.deletes ? "yes" : "no"))
        return lines
    }

    private func creation(_ view: ResourceView) -> [String] {
        ["  creates records: " + (view.creators(with: []).isEmpty ? "no" : "yes")]
    }

    private func names(_ rights: [SectionRights], isWriting: Bool) -> String {
        var names: [String] = []
        for (section, right) in zip(resource.sections, rights) where right.isGiven {
            let fields = isWriting ? Array(right.fields.prefix(section.fields.count)) : right.fields
            if fields.allSatisfy(\.self) {
                names.append(section.name)
                continue
            }
            for group in section.groups where group.fields.allSatisfy({ right.fields[$0] }) {
                names.append(section.name + "." + group.name)
            }
            if isWriting { continue }
            for (position, field) in section.readOnly.enumerated() where right.fields[section.fields.count + position] {
                names.append(section.name + "." + field.name)
            }
        }
        return names.isEmpty ? "nothing" : names.joined(separator: ", ")
    }
}

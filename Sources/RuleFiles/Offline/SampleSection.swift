import MergeCore

/// The rows of one section in sample records, whatever its shape; what does not fit is for others to refuse.
struct SampleSection {
    private let rows: [[ScalarMember]]
    private let ids: [Scalar]

    init(_ section: RuleSection, isRoot: Bool, in records: [Scalar]) {
        var rows: [[ScalarMember]] = []
        var ids: [Scalar] = []
        for record in records {
            guard case .object(let members) = record else { continue }
            if isRoot { ids += members.filter { $0.name == "id" }.map(\.value) }
            for member in members where member.name == section.name.value {
                let elements = if case .array(let elements) = member.value { elements } else { [member.value] }
                for case .object(let fields) in elements {
                    rows.append(fields)
                    if section.isList { ids += fields.filter { $0.name == "id" }.map(\.value) }
                }
            }
        }
        self.rows = rows
        // A temporary id says nothing of the key's type.
        self.ids = ids.filter { id in
            if case .text(let text) = id { !text.hasPrefix("tmp:") } else { true }
        }
    }

    func values(of field: String) -> [Scalar] {
        rows.flatMap { $0.filter { $0.name == field }.map(\.value) }
    }

    /// Of how many columns the key is, as far as the ids show; nil where there are none.
    var keyCount: Int? {
        ids.map { id in
            if case .array(let parts) = id { parts.count } else { 1 }
        }.max()
    }

    /// Returns what stands in one part of the ids.
    func keyParts(_ position: Int) -> [Scalar] {
        ids.compactMap { id in
            guard case .array(let parts) = id else { return position == 0 ? id : nil }
            return parts.indices.contains(position) ? parts[position] : nil
        }
    }
}

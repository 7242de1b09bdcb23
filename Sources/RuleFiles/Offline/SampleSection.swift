import MergeCore

/// The rows of one section in sample records, without any check.
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
        // A temporary id does not show the key's type.
        self.ids = ids.filter { id in
            if case .text(let text) = id { !text.hasPrefix("tmp:") } else { true }
        }
    }

    func values(of field: String) -> [Scalar] {
        rows.flatMap { $0.filter { $0.name == field }.map(\.value) }
    }

    /// The number of columns in the key, or nil if there are no ids.
    var keyCount: Int? {
        ids.map { id in
            if case .array(let parts) = id { parts.count } else { 1 }
        }.max()
    }

    /// Returns the values of one part of the ids.
    func keyParts(_ position: Int) -> [Scalar] {
        ids.compactMap { id in
            guard case .array(let parts) = id else { return position == 0 ? id : nil }
            return parts.indices.contains(position) ? parts[position] : nil
        }
    }
}

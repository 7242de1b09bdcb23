/// The members of a JSON object; the order does not count in comparisons.
package struct JSONMembers: Sendable, Hashable {
    /// The members in their order.
    package let list: [JSONMember]

    /// Creates members, of which the last of each name counts, as in most readers.
    package init(_ members: [JSONMember]) {
        var last: [ExactText: Int] = [:]
        for (index, member) in members.enumerated() { last[member.name] = index }
        list =
            last.count == members.count
            ? members : members.enumerated().filter { last[$1.name] == $0 }.map(\.element)
    }

    private var byName: [ExactText: JSONTree] {
        Dictionary(list.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last })
    }

    package static func == (a: JSONMembers, b: JSONMembers) -> Bool {
        a.list.count == b.list.count && a.byName == b.byName
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(byName) }
}

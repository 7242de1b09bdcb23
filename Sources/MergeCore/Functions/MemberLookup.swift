/// Finds the members of an object by name.
///
/// The sides of a merge usually have the same members at the same positions, so a lookup first tries a given position.
/// Only large objects get a hash table.
struct MemberLookup {
    private let list: [JSONMember]
    private let byName: [ExactText: Int]

    private static let longestScan = 8

    init(_ members: JSONMembers) {
        list = members.list
        byName =
            list.count <= Self.longestScan
            ? [:]
            : Dictionary(list.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, last in last })
    }

    func find(_ name: ExactText, near index: Int) -> JSONTree? {
        if index < list.count, list[index].name == name { return list[index].value }
        if list.count <= Self.longestScan { return list.first { $0.name == name }?.value }
        return byName[name].map { list[$0].value }
    }
}

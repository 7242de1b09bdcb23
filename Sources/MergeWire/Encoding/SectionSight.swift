import MergeCore

/// The part of a section that a client may read.
struct SectionSight {
    let section: Section
    let position: Int
    let view: ResourceView?
    let closed: Set<String>
    private let rights: SectionRights?

    init(of resource: Resource, at position: Int, for view: ResourceView?, closed: Set<String>) {
        self.closed = closed
        section = resource.sections[position]
        self.position = position
        self.view = view
        rights = view?.widestSight.sections[position]
    }

    /// Returns true if the client may read a field of a group, by its position.
    func shows(_ field: Int) -> Bool { rights?.fields[field] != false }

    func shows(_ group: Group) -> Bool { group.fields.allSatisfy(shows) }

    /// Returns true if the client may read a read-only field, by its position among these.
    func showsReadOnly(_ field: Int) -> Bool { shows(section.fields.count + field) }

    /// Returns true if the client may write a group, or nil without access rules.
    func writes(_ group: Int) -> Bool? { view.map { !$0.writers(ofGroup: group, in: position).isEmpty } }

    /// Returns true if the client may set a group in new rows only.
    func isInitial(_ group: Int) -> Bool {
        guard let view, writes(group) == false else { return false }
        return view.creates(group: group, in: position)
    }
}

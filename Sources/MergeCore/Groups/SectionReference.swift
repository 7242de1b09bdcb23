/// Names a section of a resource, the target of a reference.
package struct SectionReference: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The name of its section.
    package let section: String

    /// Names a section.
    package init(resource: String, section: String) {
        self.resource = resource
        self.section = section
    }
}

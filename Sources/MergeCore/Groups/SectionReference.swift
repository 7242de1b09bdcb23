/// A section of a resource, as the target of a reference.
package struct SectionReference: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The name of the section.
    package let section: String

    /// Creates a reference.
    package init(resource: String, section: String) {
        self.resource = resource
        self.section = section
    }
}

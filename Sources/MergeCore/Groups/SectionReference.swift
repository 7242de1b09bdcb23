/// Names a section of a resource, the target of a reference.
package struct SectionReference: Sendable, Hashable {
    package let resource: String
    package let section: String

    package init(resource: String, section: String) {
        self.resource = resource
        self.section = section
    }
}

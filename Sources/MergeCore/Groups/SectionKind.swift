/// The number of rows of a section in a record.
package enum SectionKind: String, Sendable, Hashable {
    case root
    case singleton
    case list
}

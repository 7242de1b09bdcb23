/// The number of rows that a section has in a record.
package enum SectionKind: String, Sendable, Hashable {
    case root
    case singleton
    case list
}

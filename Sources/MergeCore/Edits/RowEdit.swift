/// The change to one row of one section, as a class to avoid copies.
package final class RowEdit: Sendable, Hashable {
    /// The position in the resource's `sections`.
    package let section: Int
    /// The id, or nil in a singleton that its record identifies.
    package let id: RowID?
    /// The change that the client wants.
    package let action: RowAction
    /// The location of the row in the body.
    package let path: WirePath
    /// The values of a restored row in columns that its section does not contain.
    package let extras: RawRow?

    /// True if the client creates the row.
    package var isCreation: Bool {
        if case .create = action { true } else { false }
    }

    /// Creates the change to one row.
    package init(section: Int, id: RowID?, action: RowAction, path: WirePath, extras: RawRow? = nil) {
        self.section = section
        self.id = id
        self.action = action
        self.path = path
        self.extras = extras
    }

    package static func == (a: RowEdit, b: RowEdit) -> Bool {
        a === b || (a.section, a.id, a.action, a.path, a.extras) == (b.section, b.id, b.action, b.path, b.extras)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(section)
        hasher.combine(path)
    }
}

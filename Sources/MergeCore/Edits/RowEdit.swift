/// The changes to one row of one section.
///
/// An object, as an edit is: it is handed on many times and never changes.
package final class RowEdit: Sendable, Hashable {
    /// Position in the resource's `sections`.
    package let section: Int
    /// nil in a singleton that is not the root: its record names it.
    package let id: RowID?
    /// The wish of the client.
    package let action: RowAction
    /// The place of the row in the body.
    package let path: WirePath
    /// The values that a row that comes back held in columns that its section does not know.
    package let extras: RawRow?

    /// The client wants a new row.
    package var isCreation: Bool {
        if case .create = action { true } else { false }
    }

    /// Makes the change to one row.
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

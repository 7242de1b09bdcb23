/// Where something stands in the request, such as `edits[1].changeset.customer`.
///
/// Every value has one and hardly any is ever read, so the text is only made when it is asked for.
package struct WirePath: Sendable, Hashable, CustomStringConvertible {
    private final class Place: Sendable {
        enum Step: Sendable {
            case member(String)
            case element(Int)
        }

        let parent: Place?
        let step: Step

        init(_ parent: Place?, _ step: Step) {
            self.parent = parent
            self.step = step
        }
    }

    /// nil for the body itself.
    private let place: Place?

    private init(_ place: Place?) {
        self.place = place
    }

    package init(_ text: String) {
        place = text.isEmpty ? nil : Place(nil, .member(text))
    }

    package var text: String {
        var steps: [Place.Step] = []
        var next = place
        while let place = next {
            steps.append(place.step)
            next = place.parent
        }
        var text = ""
        for step in steps.reversed() {
            switch step {
            case .member(let name): text += text.isEmpty ? name : "." + name
            case .element(let index): text += "[\(index)]"
            }
        }
        return text
    }

    /// Returns the path of a member of the object here.
    ///
    /// A name that is longer than names can be is cut: it is only shown.
    package func member(_ name: String) -> WirePath {
        guard name.utf8.count > NameIndex.maximumBytes else { return WirePath(Place(place, .member(name))) }
        let start = String(String.UnicodeScalarView(name.unicodeScalars.prefix(60)))
        return WirePath(Place(place, .member(start + "…")))
    }

    /// Returns the path of an element of the array here.
    package func element(_ index: Int) -> WirePath { WirePath(Place(place, .element(index))) }

    package var description: String { text }

    package static func == (a: WirePath, b: WirePath) -> Bool { a.place === b.place || a.text.isExactly(b.text) }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactText(text)) }
}

/// Values of some fields of a section, in the order in which they were sent.
package struct FieldValues: Sendable, Hashable {
    /// Positions in the section's `fields`.
    package var fields: [Int]
    /// Parallel to `fields`; null where a temporary id stands that is not settled yet.
    package var values: [Value]
    /// Places in `values` that wait for the real key of a row that this push creates.
    package var pending: [PendingReference]

    package init(fields: [Int], values: [Value], pending: [PendingReference] = []) {
        self.fields = fields
        self.values = values
        self.pending = pending
    }

    package static let none = FieldValues(fields: [], values: [])

    /// The same values with temporary ids replaced by the keys in `ids`; those that are unknown stay pending.
    package func resolved(_ ids: (TemporaryID) -> Value?) -> FieldValues {
        guard !pending.isEmpty else { return self }
        var out = self
        out.pending = []
        for reference in pending {
            if let value = ids(reference.id) {
                out.values[reference.position] = value
            } else {
                out.pending.append(reference)
            }
        }
        return out
    }
}

/// A temporary id that stands in place of a value.
package struct PendingReference: Sendable, Hashable {
    package let position: Int
    package let id: TemporaryID

    package init(position: Int, id: TemporaryID) {
        self.position = position
        self.id = id
    }
}

/// The values that the client held when it began to edit a group.
package enum Base: Sendable, Hashable {
    case values(FieldValues)
    /// The SHA-256 of the canonical JSON of the values (RFC 8785).
    case digest([UInt8])
}

/// The change to one group of a row that exists.
package struct GroupEdit: Sendable, Hashable {
    package let group: Int
    package let base: Base
    package let edited: FieldValues
    package let path: WirePath
    /// `old` names the fields even where the group has only one.
    package let isRowForm: Bool

    package init(group: Int, base: Base, edited: FieldValues, path: WirePath, isRowForm: Bool) {
        self.group = group
        self.base = base
        self.edited = edited
        self.path = path
        self.isRowForm = isRowForm
    }
}

/// The base of a group of a row that is deleted.
package struct GroupBase: Sendable, Hashable {
    package let group: Int
    package let base: FieldValues

    package init(group: Int, base: FieldValues) {
        self.group = group
        self.base = base
    }
}

/// The client's wish for one row.
package enum RowAction: Sendable, Hashable {
    /// Any subset of the fields.
    case create(FieldValues)
    case edit([GroupEdit])
    case delete([GroupBase])
}

/// The changes to one row of one section.
///
/// An object, as an edit is: it is handed on many times and never changes.
package final class RowEdit: Sendable, Hashable {
    /// Position in the resource's `sections`.
    package let section: Int
    /// nil in a singleton that is not the root: its record names it.
    package let id: RowID?
    package let action: RowAction
    package let path: WirePath
    /// The values that a row that comes back held in columns that its section does not know.
    package let extras: RawRow?

    /// The client wants a new row.
    package var isCreation: Bool {
        if case .create = action { true } else { false }
    }

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

/// The changes to one record.
package final class Edit: Sendable, Hashable {
    package let resource: Resource
    package let id: RowID
    package let rows: [RowEdit]
    package let path: WirePath
    /// Rows of tables that no section shows, which come back with the record.
    package let returning: [Cascade]

    package init(resource: Resource, id: RowID, rows: [RowEdit], path: WirePath, returning: [Cascade] = []) {
        self.resource = resource
        self.id = id
        self.rows = rows
        self.path = path
        self.returning = returning
    }

    package static func == (a: Edit, b: Edit) -> Bool {
        a === b || (a.resource, a.id, a.rows, a.path, a.returning) == (b.resource, b.id, b.rows, b.path, b.returning)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(id)
        hasher.combine(path)
    }

    /// Tells whether the edit creates its record.
    package var createsRecord: Bool {
        rows.contains { row in
            if row.section == 0, case .create = row.action { true } else { false }
        }
    }
}

/// The unit of a push that stands or falls together.
package enum Atomicity: String, Sendable, Hashable, CaseIterable {
    case push
    case edit
}

/// A list of edits that runs as one transaction.
package struct Push: Sendable, Hashable {
    package let key: String?
    package let atomicity: Atomicity
    package let edits: [Edit]

    package init(key: String?, atomicity: Atomicity, edits: [Edit]) {
        self.key = key
        self.atomicity = atomicity
        self.edits = edits
    }
}

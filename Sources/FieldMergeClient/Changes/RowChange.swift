/// A change of one row, as an edit makes it.
package struct RowChange: Sendable, Hashable {
    /// The section of the row.
    package let section: String
    /// The id of an item; nil in a singleton.
    package let item: JSONValue?
    /// The change itself.
    package var step: Step
    /// The fields with an unknown `old`.
    ///
    /// The row is created by a push without an answer, which leaves them to the database, or its base lacks them. The step
    /// has no `old` of them, and no `new` unless the app has set one.
    package var unknown: Set<String> = []

    /// A change of a row, in fields and their values.
    package enum Step: Sendable, Hashable {
        /// Groups by their names, each with all of its known fields.
        case edit([String: GroupSides])
        /// The set fields.
        case create(JSONObject)
        /// The base values of every known field of its groups.
        case delete(JSONObject)
    }

    /// The values of a group before and after.
    package struct GroupSides: Sendable, Hashable {
        /// The base values.
        package var old: JSONObject
        /// The values that she wants.
        package var new: JSONObject
    }

    /// The place of the row in its record.
    package struct Place: Hashable, Sendable {
        let section: String
        let key: IDText?
    }

    /// The place of the row.
    package var place: Place { Place(section: section, key: item?.key) }

    /// The groups of an edit; none of any other change.
    var groups: [String: GroupSides] {
        if case .edit(let groups) = step { groups } else { [:] }
    }

    var isCreation: Bool {
        if case .create = step { true } else { false }
    }

    var isDeletion: Bool {
        if case .delete = step { true } else { false }
    }

    /// Returns the change with another step.
    func with(_ step: Step) -> RowChange { RowChange(section: section, item: item, step: step, unknown: unknown) }
}

extension RowChange {
    /// The change as it is stored.
    package var jsonValue: JSONValue {
        var out: JSONObject = ["section": .string(section)]
        if let item { out["id"] = item }
        switch step {
        case .edit(let groups):
            out["do"] = "edit"
            out["groups"] = .object(groups.mapValues { ["old": .object($0.old), "new": .object($0.new)] })
        case .create(let new):
            out["do"] = "create"
            out["new"] = .object(new)
        case .delete(let old):
            out["do"] = "delete"
            out["old"] = .object(old)
        }
        if !unknown.isEmpty { out["unknown"] = .array(unknown.sorted().map(JSONValue.string)) }
        return .object(out)
    }

    /// Reads a stored change; nil if it is invalid.
    package init?(_ stored: JSONValue) {
        guard let section = stored["section"].stringValue else { return nil }
        self.section = section
        item = stored.objectValue?["id"]
        unknown = Set((stored["unknown"].arrayValue ?? []).compactMap(\.stringValue))
        switch stored["do"].stringValue {
        case "edit":
            guard let groups = stored["groups"].objectValue else { return nil }
            step = .edit(
                groups.mapValues {
                    GroupSides(old: $0["old"].objectValue ?? [:], new: $0["new"].objectValue ?? [:])
                })
        case "create": step = .create(stored["new"].objectValue ?? [:])
        case "delete": step = .delete(stored["old"].objectValue ?? [:])
        default: return nil
        }
    }
}

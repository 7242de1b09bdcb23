/// The outcome of one group or row.
package struct Outcome: Sendable, Hashable {
    /// The position in the resource's `sections`, which the caller sets.
    package var section: Int
    /// The real key of the item, in a list.
    package var item: RowLabel?
    /// The position of the group, or nil for the outcome of a whole row.
    package let group: Int?
    /// The name of the outcome.
    package var kind: OutcomeKind
    /// The rule that decided.
    package var rule: RuleReference
    /// The sides that met, or nil if none did, such as in the deletion of a missing row.
    package var sides: Sides?
    /// True if the edit met another change.
    package var isConflict: Bool
    private var rare: Rare?

    /// The members that few outcomes have.
    private final class Rare: Sendable, Hashable {
        struct Fields: Sendable, Hashable {
            var parts: [MergedPart] = []
            var fallback: String?
            var guardKind: GuardKind?
            var deletedRow: [Value]?
            var wholeRow: RawRow?
            var cascades: [Cascade] = []
            var authorship: Authorship?
            var unlogged: [String] = []
        }

        let fields: Fields

        init(_ fields: Fields) {
            self.fields = fields
        }

        static func == (a: Rare, b: Rare) -> Bool { a.fields == b.fields }

        func hash(into hasher: inout Hasher) { hasher.combine(fields) }
    }

    private mutating func set<Field: Hashable>(_ member: WritableKeyPath<Rare.Fields, Field>, value: Field) {
        var fields = rare?.fields ?? Rare.Fields()
        if fields[keyPath: member] == value { return }
        fields[keyPath: member] = value
        rare = Rare(fields)
    }

    /// The parts for which a merge function had to choose a side.
    package var parts: [MergedPart] {
        get { rare?.fields.parts ?? [] }
        set { set(\.parts, value: newValue) }
    }

    /// The reason why the rule's merge function did not decide.
    package var fallback: String? {
        get { rare?.fields.fallback }
        set { set(\.fallback, value: newValue) }
    }

    /// The kind of guard that decided, or nil if none did.
    package var guardKind: GuardKind? {
        get { rare?.fields.guardKind }
        set { set(\.guardKind, value: newValue) }
    }

    /// The deleted row, if the deletion of its record deleted it.
    package var deletedRow: [Value]? {
        get { rare?.fields.deletedRow }
        set { set(\.deletedRow, value: newValue) }
    }

    /// The deleted row with all its columns, for the journal.
    package var wholeRow: RawRow? {
        get { rare?.fields.wholeRow }
        set { set(\.wholeRow, value: newValue) }
    }

    /// The rows that the database deleted or changed along with the row, or would have.
    package var cascades: [Cascade] {
        get { rare?.fields.cascades ?? [] }
        set { set(\.cascades, value: newValue) }
    }

    /// The fields and columns of a foreign change whose values the database's log does not contain.
    package var unlogged: [String] {
        get { rare?.fields.unlogged ?? [] }
        set { set(\.unlogged, value: newValue) }
    }

    /// The author of the value that a conflict met, or nil if it was not requested.
    package var authorship: Authorship? {
        get { rare?.fields.authorship }
        set { set(\.authorship, value: newValue) }
    }

    /// Creates the outcome of a group, or of a whole row if `group` is nil.
    package init(
        _ kind: OutcomeKind, section: Int = 0, item: RecordKey? = nil, group: Int? = nil,
        rule: RuleReference = .default, sides: Sides? = nil, isConflict: Bool = false
    ) {
        self.kind = kind
        self.section = section
        self.item = item.map { .key($0) }
        self.group = group
        self.rule = rule
        self.sides = sides
        self.isConflict = isConflict
    }

    /// The sides, if they are in conflict.
    package var conflict: Sides? { isConflict ? sides : nil }
}

package import MergeCore

/// The entries to read; a member that is nil selects all.
package struct JournalFilter: Sendable, Hashable {
    /// The name of a resource.
    package var resource: String?
    /// The record's key as URLs spell it.
    package var record: String?
    /// A sender's name.
    package var who: String?
    /// A sender's device.
    package var device: String?
    /// The code of the problem for which a push was refused.
    package var code: String?
    /// A group that the entry names.
    package var group: EntryGroup?
    /// An outcome that occurs in the entry.
    package var outcome: String?
    /// Selects entries of this time or later, in UTC.
    package var since: DateTime?
    /// Selects entries before this time, in UTC.
    package var until: DateTime?
    /// Selects entries with higher numbers.
    package var after: Int?
    /// The newest first; `after` then selects lower numbers.
    package var isBackward = false
    /// Selects only refused pushes.
    package var onlyRefused = false
    /// Selects also refused pushes that an operator has dropped.
    package var includesDropped = false
    /// Selects only entries with a conflict.
    package var onlyConflicts = false
    /// Selects only numbers of this range.
    package var range: ClosedRange<Int>?
    /// The highest number of entries.
    package var limit = 100

    /// Makes a filter that selects all entries.
    package init() {}
}

/// A group of a section, or a section as a whole.
package struct EntryGroup: Sendable, Hashable {
    /// The name of the section.
    package let section: String
    /// The name of the group, or nil for all groups and rows of the section.
    package let group: String?

    /// Names a group.
    package init(section: String, group: String?) {
        self.section = section
        self.group = group
    }
}

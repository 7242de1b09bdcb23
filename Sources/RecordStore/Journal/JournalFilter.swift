package import MergeCore

/// The entries that someone wants to see; everything left out is left open.
package struct JournalFilter: Sendable, Hashable {
    /// The name of a resource.
    package var resource: String?
    /// The record's key as URLs spell it.
    package var record: String?
    /// A sender's name.
    package var who: String?
    /// An outcome that occurs in the entry.
    package var outcome: String?
    /// Entries of this moment or later, in UTC.
    package var since: DateTime?
    /// Entries with greater numbers.
    package var after: Int?
    /// The newest first; `after` then means smaller numbers.
    package var isBackward = false
    /// Only pushes that are kept because they were refused.
    package var onlyRefused = false
    /// The number of entries at most.
    package var limit = 100

    /// Makes a filter that lets everything through.
    package init() {}
}

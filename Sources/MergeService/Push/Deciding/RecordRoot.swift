import MergeCore

/// The root row by which an edit finds, links and permits the other rows of its record.
///
/// It is never computed: after a write that may have changed its links or tested columns, it is read again.
enum RecordRoot {
    /// The links and tested columns are current; nil if the row does not exist for the client.
    case read([Value]?)
    /// The key of a row that must be read again.
    case outdated(RecordKey)

    /// True if the row does not exist for the client.
    var isAbsent: Bool { if case .read(nil) = self { true } else { false } }
}

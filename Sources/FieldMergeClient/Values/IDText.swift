import GRDB
import MergeCore

/// An id as text, by which equal ids are found: 7 and "7" are one id.
///
/// Two texts are equal if they have the same characters. Swift's `String` also equates two Unicode forms of a text, which
/// the database stores as two ids.
package struct IDText: Hashable, Sendable {
    private let exact: ExactText

    /// The text itself.
    package var string: String { exact.string }

    /// Makes an id of its text.
    package init(_ string: String) {
        exact = ExactText(string)
    }

    /// True for the text that no id has; it denotes all records of a resource.
    var isEmpty: Bool { string.isEmpty }

    /// The parts of a key of several columns.
    var parts: [String] { string.split(separator: "\u{1F}", omittingEmptySubsequences: false).map { String($0) } }

    /// Joins the parts of a key of several columns.
    package init(parts: [String]) { self.init(parts.joined(separator: "\u{1F}")) }
}

extension IDText: Comparable {
    /// The order of code points, which SQLite has too.
    package static func < (a: IDText, b: IDText) -> Bool { a.exact < b.exact }
}

extension IDText: DatabaseValueConvertible {
    var databaseValue: DatabaseValue { string.databaseValue }

    static func fromDatabaseValue(_ value: DatabaseValue) -> IDText? {
        String.fromDatabaseValue(value).map { IDText($0) }
    }
}

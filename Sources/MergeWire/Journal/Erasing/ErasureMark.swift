package import MergeCore

/// The time of an erasure and its author, which stay in place of the values.
package struct ErasureMark: Sendable {
    private let at: DateTime
    private let by: String

    /// Creates the mark of an erasure.
    package init(at: DateTime, by: String) {
        self.at = at
        self.by = by
    }

    func write(to writer: inout JSONWriter) {
        writer.member("erased")
        writer.object { writer in
            writer.member("at")
            writer.string(at.text(separator: "T", fraction: 0) + "Z")
            writer.member("by")
            writer.string(by)
        }
    }

    /// Returns the time and the author of the erasure of an entry as text; nil if it was not erased.
    package static func sentence(in content: [UInt8]) -> String? {
        (JSONDocument.stored(content) { root in
            root["erased"]?["at"]?.string.map { $0 + (root["erased"]?["by"]?.string.map { " by " + $0 } ?? "") }
        }) ?? nil
    }

    /// Returns the time of the erasure of an entry or a refused push; nil if it was not erased.
    package static func time(in content: [UInt8]) -> String? {
        (JSONDocument.stored(content) { root in root["erased"]?["at"]?.string }) ?? nil
    }
}

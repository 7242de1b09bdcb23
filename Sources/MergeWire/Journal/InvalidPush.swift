package import MergeCore

/// The line that the journal keeps of a push that was not valid, instead of the push.
package struct InvalidPush: Sendable, Hashable {
    /// The path of the fault in the body; empty if the body as a whole is not valid.
    package let path: String
    /// The length of the body.
    package let byteCount: Int

    private static let longestPath = 200

    /// Describes the fault of a push.
    package init(_ problem: Problem, byteCount: Int) {
        // The path contains names that the client chose.
        path = String(decoding: (problem.path?.text ?? "").utf8.prefix(Self.longestPath), as: UTF8.self)
        self.byteCount = byteCount
    }

    /// The form in which the journal stores the line.
    package var content: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            writer.member("invalid")
            writer.string(path)
            writer.member("bytes")
            writer.integer(byteCount)
        }
        return writer.bytes
    }

    /// Reads `content`; nil for a whole push.
    package init?(_ content: [UInt8]) {
        guard content.starts(with: Array(#"{"invalid":"#.utf8)) else { return nil }
        let found = JSONDocument.stored(content) { root -> (String, Int)? in
            guard let path = root["invalid"]?.string, case .integer(let count)? = root["bytes"]?.scalar else {
                return nil
            }
            return (path, Int(clamping: count))
        }
        guard let found, let (path, count) = found else { return nil }
        (self.path, byteCount) = (path, count)
    }
}

package import MergeCore

/// A body without members.
package enum EmptyRequest {
    /// - Throws: a 400 `Problem` unless a body is an empty object, or missing.
    package static func check(_ body: [UInt8]) throws(Problem) {
        if body.isEmpty { return }
        let read = body.withUnsafeBytes { bytes in
            Result { () throws(Problem) in
                try JSONDocument.parse(bytes, maximumDepth: 2) { root throws(Problem) in
                    try root.checkObject(WirePath(""), known: [])
                }
            }
        }
        try read.get()
    }
}

package import MergeCore

/// A record in a file, for a trial of rules.
package enum SampleFile {
    /// Reads JSON as strictly as a request body.
    package static func read(_ bytes: [UInt8]) throws(Problem) -> Scalar {
        let read = bytes.withUnsafeBytes { buffer in
            Result { () throws(Problem) in
                try JSONDocument.parse(buffer, maximumDepth: JSONMerge.maximumDepth) { $0.scalar }
            }
        }
        return try read.get()
    }
}

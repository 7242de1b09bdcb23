package import MergeCore

/// A record in a file, for trying rules on.
package enum SampleFile {
    /// Reads JSON as strictly as a request body is read.
    ///
    /// - Throws: a `Problem` whose `detail` says what is wrong, where the bytes are not JSON.
    package static func read(_ bytes: [UInt8]) throws(Problem) -> Scalar {
        let read = bytes.withUnsafeBytes { buffer in
            Result { () throws(Problem) in
                try JSONDocument.parse(buffer, maximumDepth: JSONMerge.maximumDepth) { $0.scalar }
            }
        }
        return try read.get()
    }
}

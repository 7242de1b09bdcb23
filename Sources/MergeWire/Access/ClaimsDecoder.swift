package import MergeCore

/// Reads the claims of a token.
package enum ClaimsDecoder {
    private static let depth = 16

    /// Returns the members of a JSON object.
    ///
    /// - Throws: a 400 `Problem` if the bytes are not a JSON object, or if an object has a duplicate member.
    package static func decode(_ bytes: [UInt8]) throws(Problem) -> AccessClaims {
        let read: Result<AccessClaims, Problem> = bytes.withUnsafeBytes { bytes in
            do throws(Problem) { return .success(try decode(bytes)) } catch { return .failure(error) }
        }
        return try read.get()
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> AccessClaims {
        try JSONDocument.parse(bytes, maximumDepth: depth) { root throws(Problem) -> AccessClaims in
            guard root.isObject else { throw Problem(.invalid, detail: "Claims must be a JSON object.") }
            var members: [ExactText: Scalar] = [:]
            for member in root.members { members[member.name] = member.value.scalar }
            return AccessClaims(members)
        }
    }
}

/// The header `Authorization` of a request.
enum AuthorizationHeader {
    /// Returns the token of `Bearer …`; nil where the header is of another scheme.
    static func token(in header: String) -> String? {
        // No token has any other byte.
        guard header.isASCII else { return nil }
        // As nearly every client spells it.
        if header.hasPrefix("Bearer "),
            header.utf8.withContiguousStorageIfAvailable({ !$0[7...].contains(UInt8(ascii: " ")) }) ?? false
        {
            return String(header.utf8.dropFirst(7))
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].trimmingSpaces
    }
}

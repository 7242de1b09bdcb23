enum AuthorizationHeader {
    /// Returns the token of `Bearer …`; nil if the header has another scheme.
    static func token(in header: String) -> String? {
        // Tokens are ASCII.
        guard header.isASCII else { return nil }
        // Almost every client uses this form.
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

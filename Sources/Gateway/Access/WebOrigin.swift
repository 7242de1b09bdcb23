#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The origin of web pages, in the form of the header `Origin`.
///
/// Scheme and host are in lower case. The default port of the scheme is omitted.
package struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    private static let ports = ["http": 80, "https": 443]

    /// Reads an origin: a scheme, a host and an optional port.
    package init(_ text: String) throws(WebOriginError) {
        if let wildcard = ["*", "null"].first(where: { $0 == text.lowercased() }) {
            throw WebOriginError("“\(wildcard)” would let in every page there is; name each origin")
        }
        if text.contains(",") { throw WebOriginError("“\(text)” is more than one; give each by itself") }
        guard let colon = text.firstRange(of: "://"), let port = Self.ports[text[..<colon.lowerBound].lowercased()]
        else { throw WebOriginError("“\(text)” does not begin with http:// or https://") }
        let scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...]
        if rest.contains(where: { "/?#\\".contains($0) }) {
            throw WebOriginError(
                "“\(text)” has a path after the host and port; leave the path out, even a "
                    + "single slash")
        }
        if rest.contains("@") { throw WebOriginError("“\(text)” names a user, which no origin has") }
        guard rest.utf8.allSatisfy({ $0 < 128 }) else {
            throw WebOriginError("“\(text)” is not in ASCII; write the host as browsers send it, beginning with xn--")
        }
        guard let (host, own) = Self.split(rest.lowercased()) else {
            throw WebOriginError("“\(text)” has no host that can be, or no port from 1 to 65535")
        }
        description = "\(scheme)://\(host)" + (own.map { $0 == port ? "" : ":\($0)" } ?? "")
    }

    private static func split(_ text: String) -> (host: String, port: Int?)? {
        var host = text[...]
        var port: Int?
        if let colon = text.lastIndex(of: ":"), text.lastIndex(of: "]").map({ $0 < colon }) ?? true {
            let digits = text[text.index(after: colon)...]
            guard !digits.isEmpty, digits.allSatisfy(\.isNumber), let number = Int(digits),
                (1...65_535).contains(number)
            else { return nil }
            port = number
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return address(String(host.dropFirst().dropLast())).map { ("[\($0)]", port) }
        }
        return isName(host) ? (String(host), port) : nil
    }

    /// Returns true for a DNS name or an IPv4 address of four numbers.
    private static func isName(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isSound = labels.allSatisfy { label in
            !label.isEmpty && label.count <= 63
                && label.utf8.allSatisfy { ($0 >= 97 && $0 <= 122) || ($0 >= 48 && $0 <= 57) || $0 == 45 || $0 == 95 }
        }
        guard isSound, host.count <= 253, let last = labels.last else { return false }
        // Browsers read a host that ends with a number as an address.
        guard last.hasPrefix("0x") || last.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else { return true }
        return labels.count == 4 && labels.allSatisfy { label in UInt8(label).map { String($0) == label } ?? false }
    }

    /// Returns an IPv6 address in the form of browsers (RFC 5952 section 4), or nil.
    private static func address(_ text: String) -> String? {
        var address = in6_addr()
        guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &address) { [UInt8]($0) }
        let pieces = stride(from: 0, to: 16, by: 2).map { Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]) }
        var longest = 0..<0
        for start in pieces.indices {
            let end = pieces[start...].firstIndex { $0 != 0 } ?? pieces.endIndex
            if end - start > max(longest.count, 1) { longest = start..<end }
        }
        func words(_ pieces: ArraySlice<Int>) -> String {
            pieces.map { String($0, radix: 16) }.joined(separator: ":")
        }
        if longest.isEmpty { return words(pieces[...]) }
        return words(pieces[..<longest.lowerBound]) + "::" + words(pieces[longest.upperBound...])
    }
}

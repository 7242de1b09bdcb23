import HTTPTypes
import NIOHTTP1

extension HTTPRequest {
    /// Converts the head of a request, without its headers.
    ///
    /// NIO's own conversion parses each target as a URL, which costs more than the rest of the head.
    init(_ head: HTTPRequestHead) {
        self.init(
            method: Method(head.method.rawValue) ?? .options, scheme: "http",
            authority: head.headers.first(name: "host"),
            path: Self.path(head.uri))
    }

    /// Returns path and query of a target in origin form or absolute form (RFC 9112 section 3.2).
    private static func path(_ target: String) -> String {
        // A combining character after a slash would join it, so bytes are compared.
        let (bytes, question) = (target.utf8, UInt8(ascii: "?"))
        guard bytes.first != UInt8(ascii: "/"), let scheme = bytes.firstRange(of: Array("://".utf8)) else {
            return target
        }
        let rest = bytes[scheme.upperBound...]
        guard let start = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == question }) else { return "/" }
        return (rest[start] == question ? "/" : "") + String(decoding: rest[start...], as: UTF8.self)
    }
}

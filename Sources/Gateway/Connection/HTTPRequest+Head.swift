import HTTPTypes
import NIOHTTP1

extension HTTPRequest {
    /// The request as the routes know it.
    ///
    /// NIO's own conversion takes each target apart as a URL, which costs more than all the rest of the head. The headers
    /// are in the context.
    init(_ head: HTTPRequestHead) {
        self.init(
            method: Method(head.method.rawValue) ?? .options, scheme: "http",
            authority: head.headers.first(name: "host"),
            path: Self.path(head.uri))
    }

    /// The path and query of a target in origin form or, as a proxy may send it, in absolute form (RFC 9112 section 3.2).
    private static func path(_ target: String) -> String {
        guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target }
        let rest = target[scheme.upperBound...]
        guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[start] == "?" ? "/" + rest[start...] : String(rest[start...])
    }
}

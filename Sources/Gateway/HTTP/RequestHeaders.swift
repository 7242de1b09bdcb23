import NIOHTTP1

/// The headers of a request as they arrived.
///
/// This is the one place where they are read. Hummingbird's own collection of them indexes every name of every request
/// before it finds the first, so it is filled only for what of Hummingbird's looks into it (`HTTPRequest.init`).
struct RequestHeaders: Sendable {
    private let fields: HTTPHeaders

    init(_ fields: HTTPHeaders = [:]) {
        self.fields = fields
    }

    /// The value of a header; several of one name are one list (RFC 9110 section 5.3).
    ///
    /// - Parameter name: in lower case; any case of it is found.
    subscript(name: String) -> String? {
        guard let first = fields.first(name: name) else { return nil }
        let all = fields[name]
        return all.count == 1 ? first : all.joined(separator: ", ")
    }
}

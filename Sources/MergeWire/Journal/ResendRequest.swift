package import MergeCore

/// The body of `POST /v1/journal/{n}/resend`.
package struct ResendRequest: Sendable {
    /// The edited push; nil for the stored push.
    package let edited: [UInt8]?

    /// Creates a request for the stored push.
    package init() {
        edited = nil
    }

    /// Reads a body; an empty one sends the stored push.
    ///
    /// - Parameter maximumDepth: the limit of a push, which is one level deeper here.
    /// - Throws: a 400 `Problem` if the body is invalid.
    package init(_ body: [UInt8], maximumDepth: Int) throws(Problem) {
        if body.isEmpty {
            self.init()
            return
        }
        let read: Result<ResendRequest, Problem> = body.withUnsafeBytes { bytes in
            do throws(Problem) {
                return .success(
                    try JSONDocument.parse(bytes, maximumDepth: maximumDepth + 1) { root throws(Problem) in
                        try Self(root)
                    })
            } catch {
                return .failure(error)
            }
        }
        self = try read.get()
    }

    private init(_ root: JSONNode) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: ["body"])
        guard let node = root["body"] else {
            edited = nil
            return
        }
        guard node.isObject else { throw Invalid.problem(top.member("body"), "must be the edited push, an object") }
        edited = Array(node.text.utf8)
    }
}

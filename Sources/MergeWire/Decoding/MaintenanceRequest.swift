package import MergeCore

/// The body of `POST /v1/operations/maintenance`.
package struct MaintenanceRequest: Sendable {
    /// True to switch maintenance on.
    package let isOn: Bool
    /// The reason for users, if any.
    package let reason: String?

    private static let mostCharacters = 255

    /// Reads a body.
    ///
    /// - Throws: a 400 `Problem` if the body is invalid.
    package init(_ body: [UInt8]) throws(Problem) {
        let read: Result<MaintenanceRequest, Problem> = body.withUnsafeBytes { bytes in
            do throws(Problem) {
                return .success(
                    try JSONDocument.parse(bytes, maximumDepth: 8) { root throws(Problem) in try Self(root) })
            } catch {
                return .failure(error)
            }
        }
        self = try read.get()
    }

    private init(_ root: JSONNode) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: ["maintenance", "reason"])
        guard case .boolean(let isOn)? = root["maintenance"]?.scalar else {
            throw Invalid.problem(top.member("maintenance"), "must be true or false")
        }
        self.isOn = isOn
        guard let node = root["reason"], !node.isNull else {
            reason = nil
            return
        }
        guard let text = node.string, !text.isEmpty, text.unicodeScalars.count <= Self.mostCharacters else {
            throw Invalid.problem(top.member("reason"), "must be a text of at most \(Self.mostCharacters) characters")
        }
        reason = text
    }
}

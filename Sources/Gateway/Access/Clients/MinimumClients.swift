import MergeCore

/// Refuses programs that are too old, before any other check.
package struct MinimumClients: Sendable {
    private let minimums: [(name: String, version: ClientVersion)]
    private let message: String?
    private let link: String?

    /// Reads the minimum versions.
    ///
    /// - Parameters:
    ///   - minimums: `NAME/VERSION`, each name once.
    ///   - message: a sentence for the user of an old program.
    ///   - link: the address of a newer version.
    package init(
        _ minimums: [String], message: String? = nil, link: String? = nil
    ) throws(MinimumClientsError) {
        var read: [(name: String, version: ClientVersion)] = []
        for text in minimums {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty, let version = ClientVersion(String(parts[1])) else {
                throw MinimumClientsError(description: "“\(text)” is not NAME/VERSION, such as shop-ios/3.2")
            }
            let name = String(parts[0])
            guard !read.contains(where: { $0.name.isExactly(name) }) else {
                throw MinimumClientsError(description: "“\(name)” appears twice")
            }
            read.append((name, version))
        }
        self.minimums = read
        self.message = message
        self.link = link
    }

    /// Checks the header `X-Client`, which is `NAME/VERSION`.
    ///
    /// - Throws: a 426 `Problem` if the program is older than its minimum.
    func check(_ headers: RequestHeaders) throws(Problem) {
        guard let header = headers["x-client"] else { return }
        let parts = header.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let name = parts[0].trimmingSpaces
        guard let minimum = minimums.first(where: { $0.name.isExactly(name) }) else { return }
        if parts.count == 2, let version = ClientVersion(parts[1].trimmingSpaces),
            !version.isOlder(than: minimum.version)
        {
            return
        }
        var problem = Problem(
            .upgradeRequired,
            detail:
                "\(minimum.name) is supported from version \(minimum.version) on. Nothing was written, and nothing is lost. Update the program.",
            retry: .later(.oldClient))
        problem.upgrade = UpgradeNotice(minimum: minimum.version.description, message: message, link: link)
        throw problem
    }
}

/// A minimum version that cannot be read.
package struct MinimumClientsError: Error, Sendable, CustomStringConvertible {
    /// The text and its fault.
    package let description: String
}

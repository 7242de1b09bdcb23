import FoundationEssentials
import MergeCore
import Operations

/// The tokens that open the gateway: one a line, as `TokenLine` reads it; `#` begins a comment.
package struct TokenFile: Sendable, Equatable {
    private let entries: [TokenLine]
    private let byDigest: [TokenDigest: Int]
    private let byName: [String: Int]

    /// The number of tokens.
    var count: Int { entries.count }

    /// Reads a tokens file.
    ///
    /// - Parameter mayBeEmpty: a file without a token is one that lets nobody in, and no mistake.
    /// - Throws: `TokenFileError` with file and line, which never repeats a hash.
    package init(path: String, mayBeEmpty: Bool = false) throws(TokenFileError) {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw TokenFileError("\(path): the tokens file cannot be read")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw TokenFileError("\(path): the tokens file is not UTF-8")
        }
        try self.init(text: text, path: path, mayBeEmpty: mayBeEmpty)
    }

    init(text: String, path: String, mayBeEmpty: Bool = false) throws(TokenFileError) {
        guard !text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw TokenFileError("\(path):1: the file begins with a byte-order mark; save it as UTF-8 without one")
        }
        var entries: [TokenLine] = []
        var byDigest: [TokenDigest: Int] = [:]
        var byName: [String: Int] = [:]
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let place = "\(path):\(number + 1): "
            guard let entry = try TokenLine(line, at: place) else { continue }
            let name = entry.bearer.name
            guard byName.updateValue(entries.count, forKey: name) == nil else {
                throw TokenFileError(place + "the name “\(name)” stands in the file already")
            }
            if let other = byDigest.updateValue(entries.count, forKey: entry.digest) {
                let name = (name, entries[other].bearer.name)
                throw TokenFileError(place + "the token of “\(name.0)” is that of “\(name.1)” already")
            }
            entries.append(entry)
        }
        guard mayBeEmpty || !entries.isEmpty else { throw TokenFileError("\(path): the file holds no token") }
        self.entries = entries
        self.byDigest = byDigest
        self.byName = byName
    }

    /// True where one of the tokens is a refresh token.
    var hasRefresh: Bool { entries.contains { $0.bearer.rights.contains(.refresh) } }

    /// Returns the line of a name; nil where there is none.
    func line(named name: String) -> TokenLine? {
        byName[name].map { entries[$0] }.flatMap { $0.bearer.name.isExactly(name) ? $0 : nil }
    }

    /// Returns the bearer of a token; nil where nobody has it.
    func bearer(of digest: TokenDigest) -> Bearer? { byDigest[digest].map { entries[$0].bearer } }
}

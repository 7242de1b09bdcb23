import FoundationEssentials
import MergeCore
import Operations

/// The tokens file, with one `TokenLine` a line.
///
/// Lines that begin with `#` are comments.
package struct TokenFile: Sendable, Equatable {
    private let entries: [TokenLine]
    private let byDigest: [TokenDigest: Int]
    private let byName: [String: Int]

    var count: Int { entries.count }

    /// Reads a tokens file.
    ///
    /// - Parameter mayBeEmpty: accepts a file without tokens.
    /// - Throws: `TokenFileError` with file and line, and without the digest.
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
                throw TokenFileError(place + "the name “\(name)” is in the file already")
            }
            if let other = byDigest.updateValue(entries.count, forKey: entry.digest) {
                let name = (name, entries[other].bearer.name)
                throw TokenFileError(place + "the token of “\(name.0)” is that of “\(name.1)” already")
            }
            entries.append(entry)
        }
        guard mayBeEmpty || !entries.isEmpty else { throw TokenFileError("\(path): the file contains no token") }
        self.entries = entries
        self.byDigest = byDigest
        self.byName = byName
    }

    var hasRefresh: Bool { entries.contains { $0.bearer.rights.contains(.refresh) } }

    func line(named name: String) -> TokenLine? {
        byName[name].map { entries[$0] }.flatMap { $0.bearer.name.isExactly(name) ? $0 : nil }
    }

    func bearer(of digest: TokenDigest) -> Bearer? { byDigest[digest].map { entries[$0].bearer } }
}

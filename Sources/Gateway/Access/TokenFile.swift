import FoundationEssentials
import MergeCore
import Operations

/// The tokens that open the gateway: one a line, `NAME RIGHTS sha256:HASH`; `#` begins a comment.
package struct TokenFile: Sendable, Equatable {
    private struct Entry: Sendable, Equatable {
        let bearer: Bearer
        let hash: [UInt8]
    }

    private let entries: [Entry]

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
        var entries: [Entry] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            let place = "\(path):\(number + 1): "
            guard words.count == 3, words[2].hasPrefix("sha256:"), let hash = Hex.decode(words[2].dropFirst(7)),
                hash.count == 32
            else {
                throw TokenFileError(
                    place + "a line is “NAME RIGHTS sha256:HASH”, as “fieldmerge token new” prints it")
            }
            let rights = words[1].split(separator: ",").map { AccessRight(rawValue: String($0)) }
            guard !rights.contains(nil), !rights.isEmpty else {
                throw TokenFileError(place + "rights are read, write or both")
            }
            guard !entries.contains(where: { $0.bearer.name == first }) else {
                throw TokenFileError(place + "the name “\(first)” stands in the file already")
            }
            if let other = entries.first(where: { $0.hash == hash }) {
                throw TokenFileError(place + "the token of “\(first)” is that of “\(other.bearer.name)” already")
            }
            let bearer = Bearer(name: String(first), rights: Set(rights.compactMap { $0 }))
            entries.append(Entry(bearer: bearer, hash: hash))
        }
        guard mayBeEmpty || !entries.isEmpty else { throw TokenFileError("\(path): the file holds no token") }
        self.entries = entries
    }

    /// Returns the bearer of a token; nil where nobody has it.
    ///
    /// Every entry is compared in full, so that the time taken tells nothing of how close a guess came.
    func bearer(of secret: String) -> Bearer? {
        let presented = AccessToken.hash(secret)
        var found: Bearer?
        for entry in entries {
            var difference: UInt8 = 0
            for (a, b) in zip(presented, entry.hash) { difference |= a ^ b }
            if difference == 0 { found = entry.bearer }
        }
        return found
    }
}

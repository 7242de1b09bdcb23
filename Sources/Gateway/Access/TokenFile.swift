import FoundationEssentials

/// The tokens that open the gateway: one a line, `NAME RIGHTS sha256:HASH`; `#` begins a comment.
package struct TokenFile: Sendable, Equatable {
    final class Entry: Sendable, Equatable {
        let name: String
        let rights: Set<AccessRight>
        let hash: [UInt8]

        init(name: String, rights: Set<AccessRight>, hash: [UInt8]) {
            self.name = name
            self.rights = rights
            self.hash = hash
        }

        static func == (a: Entry, b: Entry) -> Bool {
            a.name == b.name && a.rights == b.rights && a.hash == b.hash
        }
    }

    private let entries: [Entry]

    /// The number of tokens.
    var count: Int { entries.count }

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
            guard !entries.contains(where: { $0.name == first }) else {
                throw TokenFileError(place + "the name “\(first)” stands in the file already")
            }
            if let other = entries.first(where: { $0.hash == hash }) {
                throw TokenFileError(place + "the token of “\(first)” is that of “\(other.name)” already")
            }
            entries.append(Entry(name: String(first), rights: Set(rights.compactMap { $0 }), hash: hash))
        }
        guard mayBeEmpty || !entries.isEmpty else { throw TokenFileError("\(path): the file holds no token") }
        self.entries = entries
    }

    /// Returns the bearer whose token stands in `Authorization: Bearer …`; nil where nobody known sends it.
    func bearer(header: String) -> Entry? { Self.secret(header).flatMap { bearer(of: $0) } }

    private static func secret(_ header: String) -> String? {
        // No token has any other byte.
        guard header.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        // As nearly every client spells it.
        if header.hasPrefix("Bearer "), !header.utf8.dropFirst(7).contains(UInt8(ascii: " ")) {
            return String(header.utf8.dropFirst(7)) ?? ""
        }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return parts[1].trimmingSpaces
    }

    /// Returns the bearer of a token; nil where nobody has it.
    ///
    /// Every entry is compared in full, so that the time taken tells nothing of how close a guess came.
    func bearer(of secret: String) -> Entry? {
        let presented = AccessToken.hash(secret)
        var found: Entry?
        for entry in entries {
            var difference: UInt8 = 0
            for (a, b) in zip(presented, entry.hash) { difference |= a ^ b }
            if difference == 0 { found = entry }
        }
        return found
    }
}

/// A tokens file that cannot be used.
package struct TokenFileError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

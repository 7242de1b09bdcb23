import MergeCore
import MergeWire
import Operations

/// One line of a tokens file: `NAME RIGHTS sha256:HASH [roles=a,b] [claims=JSON to the end of the line]`.
struct TokenLine: Sendable, Equatable {
    let bearer: Bearer
    let digest: TokenDigest
    /// The start of the digest, which distinguishes the line from a later line with the same name.
    let mark: String

    /// Reads a line; nil for a comment or an empty line.
    ///
    /// - Parameter place: the file and the line, for errors.
    init?(_ line: Substring, at place: String) throws(TokenFileError) {
        var rest = Self.trimmed(line)
        guard !rest.isEmpty, !rest.hasPrefix("#") else { return nil }
        let words = [Self.word(&rest), Self.word(&rest), Self.word(&rest)]
        guard words[2].hasPrefix("sha256:"), let hash = Hex.decode(words[2].dropFirst(7)),
            let digest = TokenDigest(hash)
        else { throw Self.malformed(place) }
        let rights = try Self.rights(words[1], at: place)
        var roles: Set<ExactText> = []
        if rest.hasPrefix("roles=") { roles = try Self.roles(Self.word(&rest).dropFirst(6), at: place) }
        var claims = AccessClaims()
        if rest.hasPrefix("claims=") {
            claims = try Self.claims(rest.dropFirst(7), at: place)
            rest = ""
        }
        guard rest.isEmpty else { throw Self.malformed(place) }
        bearer = Bearer(name: String(words[0]), rights: rights, roles: roles, claims: claims)
        self.digest = digest
        mark = Hex.encode(hash.prefix(8))
    }

    private static func malformed(_ place: String) -> TokenFileError {
        TokenFileError(
            place + "a line is “NAME RIGHTS sha256:HASH”, as “fieldmerge token new” prints it, and perhaps "
                + "“roles=a,b” and then “claims={…}” behind it")
    }

    private static func rights(_ word: Substring, at place: String) throws(TokenFileError) -> Set<AccessRight> {
        let rights = word.split(separator: ",", omittingEmptySubsequences: false)
            .map { AccessRight(rawValue: String($0)) }
        guard !rights.contains(nil), !rights.isEmpty else {
            throw TokenFileError(place + "rights are read, write, operator and refresh, with commas between")
        }
        return Set(rights.compactMap { $0 })
    }

    private static func roles(_ text: Substring, at place: String) throws(TokenFileError) -> Set<ExactText> {
        let roles = text.split(separator: ",", omittingEmptySubsequences: false)
        guard !roles.contains(where: \.isEmpty), !roles.isEmpty else {
            throw TokenFileError(place + "“roles=” is followed by names with commas between, and no spaces")
        }
        return Set(roles.map { ExactText(String($0)) })
    }

    private static func claims(_ text: Substring, at place: String) throws(TokenFileError) -> AccessClaims {
        do {
            return try ClaimsDecoder.decode(Array(text.utf8))
        } catch {
            throw TokenFileError(
                place + "“claims=” is followed by a JSON object to the end of the line: \(error.detail)")
        }
    }

    private static func isSpace(_ character: Character) -> Bool {
        character == " " || character == "\t" || character == "\r"
    }

    private static func trimmed(_ line: Substring) -> Substring {
        var line = line.drop(while: isSpace)
        while let last = line.last, isSpace(last) { line.removeLast() }
        return line
    }

    /// Removes the first word and the spaces after it.
    private static func word(_ rest: inout Substring) -> Substring {
        let word = rest.prefix { !isSpace($0) }
        rest = rest[word.endIndex...].drop(while: isSpace)
        return word
    }
}

import MergeCore
import RecordStore

/// The characters of the server's character sets, as the server reports them.
final class CharacterSets {
    private let session: MariaDBSession
    private var known: [String: Repertoire] = [:]

    init(_ session: MariaDBSession) {
        self.session = session
    }

    /// Returns nil if the characters cannot be found: for multi-byte sets other than Unicode.
    func repertoire(of name: String) throws(StoreError) -> Repertoire? {
        switch name {
        case "utf8mb4": return .unicode
        case "utf8mb3", "utf8": return .basicPlane
        case "ucs2": return .ucs2
        case "utf16", "utf16le": return .utf16
        case "utf32": return .utf32
        default: break
        }
        if let repertoire = known[name] { return repertoire }
        guard try isSingleByte(name), let characters = try characters(of: name) else { return nil }
        known[name] = .singleByte(characters)
        return .singleByte(characters)
    }

    private func isSingleByte(_ name: String) throws(StoreError) -> Bool {
        let rows = try session.query(
            Statement(
                sql: "SELECT MAXLEN FROM information_schema.CHARACTER_SETS WHERE CHARACTER_SET_NAME = ?",
                binds: [Bind(.text(ExactText(name)), .text(TextType()))],
                columns: [Column(name: "MAXLEN", type: .integer(0...16), isNullable: true)]))
        return rows.first == [.integer(1)]
    }

    private func characters(of name: String) throws(StoreError) -> Set<UInt32>? {
        guard let scalars = try scalars(of: name) else { return nil }
        let question = UInt32(UInt8(ascii: "?"))
        return Set(
            scalars.enumerated().filter { $1.value != question || $0 == Int(question) }.map { $1.value })
    }

    /// Returns the character of each byte; nil if a character may have several bytes.
    func bytes(of name: String) throws(StoreError) -> [Unicode.Scalar]? {
        try isSingleByte(name) ? try scalars(of: name) : nil
    }

    /// Decodes every byte of the set on the server; an unused byte becomes `?`.
    private func scalars(of name: String) throws(StoreError) -> [Unicode.Scalar]? {
        // The name comes from information_schema, but is checked before it becomes part of SQL.
        guard name.utf8.allSatisfy({ ($0 >= 97 && $0 <= 122) || ($0 >= 48 && $0 <= 57) || $0 == 95 }) else {
            return nil
        }
        let rows = try session.query(
            Statement(
                sql: "SELECT CONVERT(CAST(? AS BINARY) USING \(name))",
                binds: [Bind(.bytes(Array(0...255)), .bytes(maximum: nil))],
                columns: [Column(name: "characters", type: .text(TextType()), isNullable: true)]))
        guard case .text(let text)? = rows.first?.first else { return nil }
        let scalars = Array(text.string.unicodeScalars)
        return scalars.count == 256 ? scalars : nil
    }
}

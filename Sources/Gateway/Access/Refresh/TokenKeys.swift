internal import Crypto
import FoundationEssentials
import MergeCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The keys by which the gateway signs access tokens of its own; the first one signs, and all of them count.
struct TokenKeys: Sendable {
    private let keys: [SigningKey]

    /// The fewest bytes of a key.
    private static let least = 32

    /// The key that signs.
    var signing: SigningKey? { keys.first }

    /// Returns the key of a name; nil where there is none.
    subscript(kid: String) -> SigningKey? { keys.first { $0.kid?.isExactly(kid) == true } }

    /// Reads a file of keys, one a line, or makes it.
    ///
    /// - Parameter makes: makes a file that is missing, for its owner alone.
    /// - Throws: `KeySetError` where it cannot be used.
    init(path: String, makes: Bool) async throws(KeySetError) {
        if makes, !FileManager.default.fileExists(atPath: path) { try Self.make(path) }
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(validating: data, as: UTF8.self)
        else { throw KeySetError("\(path): the token key cannot be read") }
        var lines: [[UInt8]] = []
        for line in text.split(whereSeparator: \.isNewline) where !line.trimmingSpaces.isEmpty && !line.hasPrefix("#") {
            let bytes = Array(line.trimmingSpaces.utf8)
            guard bytes.count >= Self.least else {
                throw KeySetError(
                    "\(path): a token key is a line of \(Self.least) bytes or more (openssl rand -hex 32)")
            }
            lines.append(bytes)
        }
        guard !lines.isEmpty else { throw KeySetError("\(path): the file holds no token key") }
        try await self.init(lines)
    }

    /// Takes a key that lasts as long as the process.
    init() async throws(KeySetError) {
        try await self.init([Self.random()])
    }

    private init(_ lines: [[UInt8]]) async throws(KeySetError) {
        var keys: [SigningKey] = []
        for line in lines {
            // The name tells keys apart, and tells nothing of them.
            let name = "fieldmerge-" + Hex.encode(SHA256.hash(data: [0] + line).prefix(8))
            guard let key = try? await SigningKey.secret(line, kid: name) else {
                throw KeySetError("a token key cannot be used")
            }
            keys.append(key)
        }
        self.keys = keys
    }

    private static func random() -> [UInt8] {
        Array(Hex.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) }).utf8)
    }

    /// Makes the file, unless another gateway has just made it.
    private static func make(_ path: String) throws(KeySetError) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        if file < 0, errno == EEXIST { return }
        guard file >= 0 else { throw KeySetError("\(path): the token key cannot be made") }
        defer { close(file) }
        let line = random() + [UInt8(ascii: "\n")]
        guard line.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == line.count, fsync(file) == 0 else {
            throw KeySetError("\(path): the token key cannot be written")
        }
    }
}

internal import Crypto
import FoundationEssentials
import MergeCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The keys for the gateway's own access tokens.
///
/// The first key signs; all keys verify.
struct TokenKeys: Sendable {
    private let keys: [SigningKey]
    let isOfProcess: Bool

    private static let least = 32

    var signing: SigningKey? { keys.first }

    var names: [String?] { keys.map(\.kid) }

    subscript(kid: String) -> SigningKey? { keys.first { $0.kid?.isExactly(kid) == true } }

    /// Reads a key file.
    ///
    /// A missing file is created first, for its owner only.
    static func read(_ path: String) async throws(KeySetError) -> TokenKeys {
        if !FileManager.default.fileExists(atPath: path) { try make(path) }
        return try await TokenKeys(path: path)
    }

    static func ofProcess() async throws(KeySetError) -> TokenKeys {
        try await TokenKeys([random()], isOfProcess: true)
    }

    /// Reads a key file with one key a line.
    init(path: String) async throws(KeySetError) {
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
        guard !lines.isEmpty else { throw KeySetError("\(path): the file contains no token key") }
        try await self.init(lines, isOfProcess: false)
    }

    private init(_ lines: [[UInt8]], isOfProcess: Bool) async throws(KeySetError) {
        var keys: [SigningKey] = []
        for line in lines {
            // The name is a hash, which reveals nothing about the key.
            let name = "fieldmerge-" + Hex.encode(SHA256.hash(data: [0] + line).prefix(8))
            guard let key = try? await SigningKey.secret(line, kid: name) else {
                throw KeySetError("a token key cannot be used")
            }
            keys.append(key)
        }
        self.keys = keys
        self.isOfProcess = isOfProcess
    }

    private static func random() -> [UInt8] {
        Array(Hex.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) }).utf8)
    }

    /// Creates the file, unless another gateway has just created it.
    ///
    /// A link names the file when it is complete, so that no reader gets half a key.
    private static func make(_ path: String) throws(KeySetError) {
        let draft = path + "." + Hex.encode((0..<8).map { _ in UInt8.random(in: .min ... .max) })
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard file >= 0 else { throw KeySetError("\(path): the token key cannot be made") }
        defer {
            close(file)
            unlink(draft)
        }
        let line = random() + [UInt8(ascii: "\n")]
        guard line.withUnsafeBytes({ write(file, $0.baseAddress, $0.count) }) == line.count, fsync(file) == 0 else {
            throw KeySetError("\(path): the token key cannot be written")
        }
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw KeySetError("\(path): the token key cannot be made")
        }
    }
}

/// The place of the signing keys for access tokens.
package enum TokenKeyPlace: Sendable {
    /// A file that the operator names.
    case file(String)
    /// A file of the gateway, created when a refresh token needs it.
    case own(String)
    /// No file: the key exists only in this process.
    case process

    /// Returns the file to read or create, or nil.
    ///
    /// - Parameter isNeeded: true if the tokens file contains a refresh token.
    func path(isNeeded: Bool) -> String? {
        switch self {
        case .file(let path): path
        case .own(let path): isNeeded ? path : nil
        case .process: nil
        }
    }
}

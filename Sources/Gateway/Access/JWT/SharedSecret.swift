import FoundationEssentials
import Logging
import Synchronization

/// The current secret that the operator shares with the issuer of HS256 tokens.
final class SharedSecret: Sendable {
    private struct State {
        var bytes: [UInt8]
        var key: SigningKey
        var trouble: String?
    }

    private let path: String
    private let logger: Logger
    /// Called after a change of the secret.
    private let changed: @Sendable () -> Void
    private let state: Mutex<State>

    private static let least = 32

    init(_ path: String, logger: Logger, changed: @escaping @Sendable () -> Void) async throws(KeySetError) {
        self.path = path
        self.logger = logger
        self.changed = changed
        state = Mutex(try await Self.read(path))
    }

    var key: SigningKey { state.withLock { $0.key } }

    /// A sentence for operators about a fault of the file, or nil.
    var trouble: String? { state.withLock { $0.trouble } }

    /// Reads the file again.
    ///
    /// After an error the old secret remains valid.
    func reload() async {
        do throws(KeySetError) {
            let read = try await Self.read(path)
            let isOther = state.withLock { state in
                defer { state = read }
                return state.bytes != read.bytes
            }
            guard isOther else { return }
            changed()
            logger.notice("taking another secret of tokens", metadata: ["file": "\(path)"])
        } catch {
            state.withLock { $0.trouble = error.description }
            logger.error("\(error); the previous secret stays in use")
        }
    }

    private static func read(_ path: String) async throws(KeySetError) -> State {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw KeySetError("\(path): the file of the secret cannot be read")
        }
        var bytes = Array(data)
        // Editors add a line break at the end.
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard bytes.count >= least else {
            throw KeySetError("\(path): the secret has \(bytes.count) bytes; it needs \(least) at least")
        }
        guard let key = try? await SigningKey.secret(bytes) else { throw KeySetError("\(path): it is not a secret") }
        return State(bytes: bytes, key: key)
    }
}

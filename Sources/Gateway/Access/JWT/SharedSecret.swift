import FoundationEssentials
import Logging
import Synchronization

/// The secret that the operator shares with whoever signs tokens by HS256, as it stands at this moment.
final class SharedSecret: Sendable {
    private struct State {
        var bytes: [UInt8]
        var key: SigningKey
        var trouble: String?
    }

    private let path: String
    private let logger: Logger
    /// Called once another secret counts.
    private let changed: @Sendable () -> Void
    private let state: Mutex<State>

    private static let least = 32

    /// Reads the file of the secret.
    ///
    /// - Throws: `KeySetError` where it cannot be used.
    init(_ path: String, logger: Logger, changed: @escaping @Sendable () -> Void) async throws(KeySetError) {
        self.path = path
        self.logger = logger
        self.changed = changed
        state = Mutex(try await Self.read(path))
    }

    /// The secret as a key.
    var key: SigningKey { state.withLock { $0.key } }

    /// A sentence for operators on the secret; nil where its file could be used.
    var trouble: String? { state.withLock { $0.trouble } }

    /// Reads the file again; the secret of before goes on where that cannot be done.
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
            logger.error("\(error); the secret of before goes on")
        }
    }

    private static func read(_ path: String) async throws(KeySetError) -> State {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw KeySetError("\(path): the file of the secret cannot be read")
        }
        var bytes = Array(data)
        // As an editor ends a line.
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard bytes.count >= least else {
            throw KeySetError("\(path): the secret has \(bytes.count) bytes; it needs \(least) at least")
        }
        guard let key = try? await SigningKey.secret(bytes) else { throw KeySetError("\(path): it is no secret") }
        return State(bytes: bytes, key: key)
    }
}

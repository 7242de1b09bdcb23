import FoundationEssentials
package import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the tokens file at start, on SIGHUP, and after a change.
///
/// After an error the old tokens remain valid, and the log and `/readyz` report it.
package struct TokensLoader: Service {
    private let path: String
    private let logger: Logger
    private let look: Duration
    /// The current tokens.
    package let tokens: KnownTokens

    /// Reads the tokens file.
    ///
    /// - Parameter look: the time between two checks of the file.
    /// - Throws: `TokenFileError` if the file is invalid or contains no token.
    package init(path: String, logger: Logger, look: Duration = .seconds(2)) throws(TokenFileError) {
        self.path = path
        self.logger = logger
        self.look = look
        tokens = KnownTokens(try TokenFile(path: path))
    }

    private enum Event {
        case look
        case signal
    }

    /// Reads the tokens file on changes and on SIGHUP, until the service is shut down.
    package func run() async throws {
        let (events, event) = AsyncStream<Event>.makeStream()
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isShuttingDownGracefully, !Task.isCancelled {
                    event.yield(.look)
                    try? await cancelWhenGracefulShutdown { try await Task.sleep(for: look) }
                }
                event.finish()
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    event.yield(.signal)
                }
            }
            group.addTask { await follow(events) }
            await group.waitForAll()
        }
    }

    /// Reads a changed file when two successive checks find the same bytes, so never a half-written file.
    ///
    /// Modification times are unreliable: two changes can have the same time, and a link has its own.
    private func follow(_ events: AsyncStream<Event>) async {
        var taken: Data??
        var seen: Data??
        for await event in events {
            let now = content()
            if event == .signal { logger.notice("reading the tokens again on SIGHUP") }
            if event == .signal || (now == seen && now != taken) {
                taken = now
                reload()
            }
            seen = now
        }
    }

    private func content() -> Data? { try? Data(contentsOf: URL(filePath: path)) }

    private func reload() {
        do throws(TokenFileError) {
            let file = try TokenFile(path: path, mayBeEmpty: true)
            let trouble = file.count == 0 ? "\(path): the file contains no token, so every request is refused" : nil
            guard tokens.serve(file, trouble: trouble) else { return }
            if let trouble {
                logger.error("\(trouble)")
            } else {
                logger.notice("letting in the tokens of the changed file", metadata: ["tokens": "\(file.count)"])
            }
        } catch {
            if tokens.note(error.description) {
                logger.error("\(error); the tokens known before go on being let in")
            }
        }
    }
}

package import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the signing keys of access tokens again on SIGHUP.
package struct TokenKeyWatch: Service {
    private let tokens: AccessTokens
    private let logger: Logger

    /// Makes the service; `run` starts it.
    package init(_ tokens: AccessTokens, logger: Logger) {
        self.tokens = tokens
        self.logger = logger
    }

    /// Waits for SIGHUP until the service is shut down.
    package func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do throws(KeySetError) {
                if try await tokens.reload() { logger.notice("signing access tokens with another key") }
            } catch {
                logger.error("\(error); the token keys of before go on")
            }
        }
    }
}

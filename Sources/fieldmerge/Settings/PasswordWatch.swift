import Logging
import MariaDBStore
import ServiceLifecycle
import UnixSignals

/// Reads the file of the database password again on SIGHUP.
struct PasswordWatch: Service {
    let password: DatabasePassword
    let file: String
    let logger: Logger

    func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do {
                guard try password.replace(with: DatabaseOptions.password(in: file)) else { continue }
                logger.notice("new connections to the database use another password")
            } catch {
                logger.error("\(error); the previous password stays in use")
            }
        }
    }
}

package import Logging
import ServiceLifecycle
import UnixSignals

/// Reads the certificate and its key again on SIGHUP.
package struct CertificateWatch: Service {
    private let certificate: ServerCertificate
    private let logger: Logger

    /// Makes the service; `run` starts it.
    package init(_ certificate: ServerCertificate, logger: Logger) {
        self.certificate = certificate
        self.logger = logger
    }

    /// Waits for SIGHUP until the service is shut down.
    package func run() async throws {
        for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
            do throws(ServerCertificateError) {
                try certificate.reload()
                logger.notice("taking the certificate again on SIGHUP")
            } catch {
                logger.error("\(error); the previous certificate stays in use")
            }
        }
    }
}

import NIOSSL
import Synchronization

/// The current certificate and key.
///
/// Open connections keep theirs.
package final class ServerCertificate: Sendable {
    private let certificate: String
    private let key: String
    private let context: Mutex<NIOSSLContext>

    /// Reads certificate and key in PEM.
    ///
    /// - Parameters:
    ///   - certificate: a file with the certificate and its intermediate certificates.
    ///   - key: a file with the private key, without a password.
    package init(certificate: String, key: String) throws(ServerCertificateError) {
        self.certificate = certificate
        self.key = key
        context = Mutex(try Self.context(certificate, key))
    }

    /// Reads the files again for new connections.
    ///
    /// After an error the old certificate remains.
    func reload() throws(ServerCertificateError) {
        let read = try Self.context(certificate, key)
        context.withLock { $0 = read }
    }

    func handler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: context.withLock { $0 }) }

    private static func context(_ certificate: String, _ key: String) throws(ServerCertificateError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            guard !chain.isEmpty else {
                throw ServerCertificateError(
                    "\(certificate): the file contains no "
                        + "certificate")
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch let error as ServerCertificateError {
            throw error
        } catch {
            throw ServerCertificateError(
                "\(certificate) and \(key): they must be a certificate and its key in PEM (\(error))")
        }
    }
}

/// A fault of the certificate or its key.
package struct ServerCertificateError: Error, Sendable, CustomStringConvertible {
    /// The files and the fault.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

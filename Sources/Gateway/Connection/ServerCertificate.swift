import NIOSSL
import Synchronization

/// The current certificate and key.
///
/// Open connections keep theirs.
package final class ServerCertificate: Sendable {
    private let certificate: String
    private let key: String
    private struct Loaded {
        let context: NIOSSLContext
        /// The second since 1970 after which the certificate is not valid.
        let end: Int
    }

    private let loaded: Mutex<Loaded>

    /// Reads certificate and key in PEM.
    ///
    /// - Parameters:
    ///   - certificate: a file with the certificate and its intermediate certificates.
    ///   - key: a file with the private key, without a password.
    package init(certificate: String, key: String) throws(ServerCertificateError) {
        self.certificate = certificate
        self.key = key
        loaded = Mutex(try Self.load(certificate, key: key))
    }

    /// Reads the files again for new connections.
    ///
    /// After an error the old certificate remains.
    func reload() throws(ServerCertificateError) {
        let read = try Self.load(certificate, key: key)
        loaded.withLock { $0 = read }
    }

    func handler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: loaded.withLock { $0.context }) }

    /// The second since 1970 after which the first certificate of the chain is not valid.
    var end: Int { loaded.withLock { $0.end } }

    private static func load(_ certificate: String, key: String) throws(ServerCertificateError) -> Loaded {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            guard let first = chain.first else {
                throw ServerCertificateError(
                    "\(certificate): the file contains no "
                        + "certificate")
            }
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) },
                privateKey: .privateKey(try NIOSSLPrivateKey(file: key, format: .pem)))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return Loaded(
                context: try NIOSSLContext(configuration: configuration), end: Int(first.notValidAfter))
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

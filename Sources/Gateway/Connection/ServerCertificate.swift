import NIOSSL
import Synchronization

/// The certificate and the key of the gateway as they stand at this moment.
///
/// A connection keeps those that it began with.
package final class ServerCertificate: Sendable {
    private let certificate: String
    private let key: String
    private let context: Mutex<NIOSSLContext>

    /// Reads certificate and key, in PEM.
    ///
    /// - Parameters:
    ///   - certificate: a file of the certificate, and of those between it and a root.
    ///   - key: a file of its private key, without a password.
    /// - Throws: `ServerCertificateError` where they cannot be used.
    package init(certificate: String, key: String) throws(ServerCertificateError) {
        self.certificate = certificate
        self.key = key
        context = Mutex(try Self.context(certificate, key))
    }

    /// Reads certificate and key again, for connections that begin from now on.
    ///
    /// - Throws: `ServerCertificateError` where they cannot be used, and those of before then go on.
    func reload() throws(ServerCertificateError) {
        let read = try Self.context(certificate, key)
        context.withLock { $0 = read }
    }

    /// Returns what encrypts a new connection.
    func handler() -> NIOSSLServerHandler { NIOSSLServerHandler(context: context.withLock { $0 }) }

    private static func context(_ certificate: String, _ key: String) throws(ServerCertificateError) -> NIOSSLContext {
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(certificate)
            guard !chain.isEmpty else { throw ServerCertificateError("\(certificate): the file holds no certificate") }
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
                "\(certificate) and \(key): they have to be a certificate and its key in PEM (\(error))")
        }
    }
}

/// A certificate that cannot be used.
package struct ServerCertificateError: Error, Sendable, CustomStringConvertible {
    /// The files and what is wrong with them.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

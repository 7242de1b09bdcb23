import ArgumentParser
import Gateway

struct TLSOptions: ParsableArguments {
    @Option(help: ArgumentHelp("File of the gateway's certificate and its chain, in PEM.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("File of the certificate's private key, in PEM.", valueName: "file"))
    var tlsKey: String?

    /// Returns the certificate; nil for plain HTTP.
    ///
    /// - Throws: `SettingsError` if it cannot be used.
    func certificate(_ settings: Settings) throws -> ServerCertificate? {
        switch (settings.text(tlsCertificate, .tlsCertificate), settings.text(tlsKey, .tlsKey)) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            do {
                return try ServerCertificate(certificate: certificate, key: key)
            } catch {
                throw SettingsError(error.description)
            }
        default: throw SettingsError("--tls-certificate and --tls-key go together")
        }
    }
}

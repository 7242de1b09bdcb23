/// A certificate authority of the tests for servers.
package struct TestAuthority: Sendable {
    private let folder: String
    private let name: String

    /// The certificate of the authority, in PEM.
    package var file: String { "\(folder)/\(name).pem" }

    private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    /// Makes an authority with the files `NAME.pem` and `NAME.key` in a folder.
    ///
    /// - Parameter names: if set, its certificate is also a server's for these names.
    @discardableResult
    package init(_ name: String, in folder: String, names: String? = nil) async throws {
        self.folder = folder
        self.name = name
        try await Shell.run(
            ["openssl", "req", "-x509", "-days", "2", "-subj", "/CN=\(name)", "-keyout", "\(folder)/\(name).key"]
                + (names.map { ["-addext", "subjectAltName=" + $0] } ?? []) + Self.newKey + ["-out", file])
    }

    /// Makes `SERVER.pem` and `SERVER.key` in the folder.
    ///
    /// - Parameter names: the names and addresses of the certificate, such as `DNS:localhost`.
    package func certify(_ server: String, names: String) async throws {
        let path = "\(folder)/\(server)"
        try await Shell.run(
            ["openssl", "req", "-subj", "/CN=\(server)", "-addext", "subjectAltName=\(names)"] + Self.newKey
                + ["-keyout", path + ".key", "-out", path + ".csr"])
        try await Shell.run([
            "openssl", "x509", "-req", "-in", path + ".csr", "-CA", file, "-CAkey", "\(folder)/\(name).key",
            "-CAcreateserial", "-copy_extensions", "copy", "-days", "2", "-out", path + ".pem",
        ])
    }
}

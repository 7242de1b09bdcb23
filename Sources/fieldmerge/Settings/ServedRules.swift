import FoundationEssentials
import Gateway

/// The rules of a running gateway.
struct ServedRules {
    private let server: String
    private let request: GatewayRequest

    /// - Throws: `SettingsError` if the address or the token's file cannot be used.
    init(_ server: String, tokenFile: String?) throws {
        self.server = server
        let wrong = SettingsError("--server is an address such as https://sync.example.com, not “\(server)”")
        guard let url = URL(string: server), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host(percentEncoded: false), !host.isEmpty
        else { throw wrong }
        let isEncrypted = scheme == "https"
        let plain = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let named = plain.contains(":") ? "[\(plain)]" : plain
        var path = url.path(percentEncoded: true)
        while path.hasSuffix("/") { path.removeLast() }
        let authority = url.port.map { "\(named):\($0)" } ?? named
        let token = try tokenFile.map { try Self.token(in: $0) }
        request = GatewayRequest(
            path + "/v1/rules", host: plain, port: url.port ?? (isEncrypted ? 443 : 80),
            encryption: isEncrypted ? .verified(host: plain) : .none, authority: authority, token: token,
            mostBytes: 64 * 1_048_576)
    }

    /// Returns the answer of `GET /v1/rules`.
    func text() async throws -> String {
        let answer: GatewayRequest.Answer
        do {
            answer = try await request.answer(within: 30)
        } catch let silence {
            throw SettingsError("\(server): \(silence.description)")
        }
        switch answer.status {
        case 200: return String(decoding: answer.body, as: UTF8.self)
        case 401: throw SettingsError("\(server) needs a valid token; name its file with --token-file")
        default: throw SettingsError("\(server) answers /v1/rules with \(answer.status)")
        }
    }

    private static func token(in file: String) throws -> String {
        guard let data = try? Data(contentsOf: URL(filePath: file)) else {
            throw SettingsError("\(file): the file of the token cannot be read")
        }
        let token = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace).first
        guard let token else { throw SettingsError("\(file): the file contains no token") }
        return String(token)
    }
}

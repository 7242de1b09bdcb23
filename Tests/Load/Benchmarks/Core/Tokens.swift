import Crypto
import Foundation
import Gateway
import Logging
import Operations

/// Knowing the bearer of a token that was verified before, as each request does.
enum Tokens {
    private static let issuer = "https://id.example.com/"
    private static let audience = "fieldmerge"

    static func costs(seconds: Double) async throws -> [Cost] {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (plain, refresh) = (AccessToken.make(), AccessToken.make())
        let lines = [
            plain.line(name: "desk", rights: [.read, .write]),
            refresh.line(name: "van", rights: [.refresh], roles: ["driver"], claims: #"{"area":7}"#),
        ]
        try lines.joined(separator: "\n").write(
            to: folder.appending(path: "tokens"), atomically: true, encoding: .utf8)
        let file = KnownTokens(try TokenFile(path: folder.appending(path: "tokens").path))
        let own = try await AccessTokens(keys: .process, file: file, lifetime: 900)
        let secret = SymmetricKey(size: .bits256)
        let encoded = secret.withUnsafeBytes { Data($0).base64EncodedString() }
        try encoded.write(to: folder.appending(path: "secret"), atomically: true, encoding: .utf8)
        var settings = JWTSettings(issuer: issuer, audience: audience)
        settings.secretFile = folder.appending(path: "secret").path
        let quiet = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        let verifier = AccessVerifier(file: file, jwt: try await JWTAccess(settings, logger: quiet), own: own)
        let key = SymmetricKey(data: Data(encoded.utf8))
        return [
            try await cost("a JWT", jwt(by: key, more: 300), verifier, seconds),
            try await cost("a JWT", jwt(by: key, more: 900), verifier, seconds),
            try await cost(
                "an access token", try own.issue(to: try await file.bearer(of: refresh.secret)), verifier, seconds),
            try await cost("a token of the file", plain.secret, verifier, seconds),
        ]
    }

    private static func cost(
        _ kind: String, _ token: String, _ verifier: AccessVerifier, _ seconds: Double
    ) async throws -> Cost {
        let known = try await verifier.bearer(of: token)
        return try await Cost.measure("look up: \(kind), \(token.utf8.count) bytes", seconds: seconds) {
            let bearer = try await verifier.bearer(of: token)
            precondition(bearer == known)
        }
    }

    /// A token with so many more bytes of claims than necessary.
    private static func jwt(by key: SymmetricKey, more: Int) -> String {
        let end = Int(Date().timeIntervalSince1970) + 86_400
        let claims =
            #"{"iss":"\#(issuer)","aud":"\#(audience)","sub":"ann","exp":\#(end),"roles":["driver"],"#
            + #""more":"\#(String(repeating: "a", count: more))"}"#
        let text = base64(Data(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "." + base64(Data(claims.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        return text + "." + base64(Data(code))
    }

    private static func base64(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

import Crypto
import CryptoExtras
import Foundation
import MergeCore

@testable import Gateway

/// An identity provider of the tests.
struct TestSigner: Sendable {
    let kid: String?
    private let curve: P256.Signing.PrivateKey?
    private let edwards: Curve25519.Signing.PrivateKey?
    private let rsa: _RSA.Signing.PrivateKey?
    private let isPSS: Bool

    static let issuer = "https://id.example.com/"
    static let audience = "fieldmerge"

    static func es256(_ kid: String?) -> TestSigner { TestSigner(kid: kid, curve: P256.Signing.PrivateKey()) }

    static func edDSA(_ kid: String?) -> TestSigner {
        TestSigner(kid: kid, edwards: Curve25519.Signing.PrivateKey())
    }

    static func rsa(_ kid: String?, isPSS: Bool = false) throws -> TestSigner {
        TestSigner(kid: kid, rsa: try _RSA.Signing.PrivateKey(keySize: .bits2048), isPSS: isPSS)
    }

    private init(
        kid: String?, curve: P256.Signing.PrivateKey? = nil, edwards: Curve25519.Signing.PrivateKey? = nil,
        rsa: _RSA.Signing.PrivateKey? = nil, isPSS: Bool = false
    ) {
        self.kid = kid
        self.rsa = rsa
        self.isPSS = isPSS
        self.curve = curve
        self.edwards = edwards
    }

    /// The public key in the form of a key set.
    func jwk(_ more: [String: String] = [:]) throws -> String {
        var members = more
        if let kid { members["kid"] = kid }
        if let curve {
            let point = curve.publicKey.rawRepresentation
            members.merge(["kty": "EC", "crv": "P-256"]) { mine, _ in mine }
            members["x"] = Base64URL.encode(point.prefix(32))
            members["y"] = Base64URL.encode(point.suffix(32))
        }
        if let edwards {
            members.merge(["kty": "OKP", "crv": "Ed25519"]) { mine, _ in mine }
            members["x"] = Base64URL.encode(edwards.publicKey.rawRepresentation)
        }
        if let primitives = try rsa?.publicKey.getKeyPrimitives() {
            members.merge(["kty": "RSA"]) { mine, _ in mine }
            members["n"] = Base64URL.encode(primitives.modulus)
            members["e"] = Base64URL.encode(primitives.publicExponent)
        }
        return Self.json(members)
    }

    /// The public key in PEM.
    var pem: String { rsa?.publicKey.pemRepresentation ?? "" }

    static func set(_ keys: [String]) -> String { #"{"keys":["# + keys.joined(separator: ",") + "]}" }

    private static func json(_ members: [String: String]) -> String {
        "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
    }

    private var algorithm: String {
        if rsa != nil { return isPSS ? "PS256" : "RS256" }
        return curve != nil ? "ES256" : "EdDSA"
    }

    /// The claims of a valid token that expires in an hour.
    ///
    /// Values are JSON; an empty value omits the claim.
    static func claims(_ more: [String: String] = [:]) -> String {
        var members = [
            "iss": "\"\(issuer)\"", "aud": "\"\(audience)\"", "sub": "\"ann\"",
            "exp": String(Int(Date().timeIntervalSince1970) + 3_600),
        ]
        members.merge(more) { $1 }
        let written = members.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        return "{" + written.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    /// Signs claims with a header; nil for the header of the key.
    func token(_ claims: String = claims(), header: String? = nil) throws -> String {
        let named = kid.map { ",\"kid\":\"\($0)\"" } ?? ""
        let head = header ?? "{\"alg\":\"\(algorithm)\"\(named)}"
        let text = Base64URL.encode(head.utf8) + "." + Base64URL.encode(claims.utf8)
        let bytes = Data(text.utf8)
        if let curve { return text + "." + Base64URL.encode(try curve.signature(for: bytes).rawRepresentation) }
        if let rsa {
            let signature = try rsa.signature(
                for: SHA256.hash(data: bytes), padding: isPSS ? .PSS : .insecurePKCS1v1_5)
            return text + "." + Base64URL.encode(signature.rawRepresentation)
        }
        guard let edwards else { return text + "." }
        return text + "." + Base64URL.encode(try edwards.signature(for: bytes))
    }

    /// A token that a shared secret signed.
    static func secretToken(_ secret: [UInt8], _ claims: String = claims(), header: String = #"{"alg":"HS256"}"#)
        -> String
    {
        let text = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: secret))
        return text + "." + Base64URL.encode(Data(code))
    }
}

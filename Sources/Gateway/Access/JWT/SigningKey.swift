import JWTKit
import MergeCore

/// A key with the algorithms of its kind.
///
/// The header of a token cannot change them.
struct SigningKey: Sendable {
    let kid: String?
    private let algorithms: [JWTAlgorithmName: any JWTAlgorithm]

    private init(kid: String?, _ algorithms: [JWTAlgorithmName: any JWTAlgorithm]) {
        self.kid = kid
        self.algorithms = algorithms
    }

    func verifies(_ signature: [UInt8], over text: some Collection<UInt8>, by name: JWTAlgorithmName) -> Bool {
        guard let algorithm = algorithms[name] else { return false }
        return (try? algorithm.verify(signature, signs: Array(text))) ?? false
    }

    func takes(_ name: JWTAlgorithmName) -> Bool { algorithms[name] != nil }

    func sign(_ text: some Collection<UInt8>) throws -> [UInt8] {
        try algorithms[.hs256]?.sign(Array(text)) ?? []
    }

    // MARK: Making keys

    static func secret(_ bytes: [UInt8], kid: String? = nil) async throws -> SigningKey {
        let keys = JWTKeyCollection()
        await keys.add(hmac: HMACKey(from: bytes), digestAlgorithm: .sha256)
        return SigningKey(kid: kid, [.hs256: try await keys.getKey()])
    }

    /// Makes a key from a member of a key set (RFC 7517); nil if it is unusable or not for signatures.
    static func publicKey(_ members: AccessClaims) async -> SigningKey? {
        if let use = members["use"], use != .text("sig") { return nil }
        var bound: JWTAlgorithmName?
        if let alg = members["alg"] {
            guard case .text(let name) = alg, let known = JWTAlgorithmName(named: name) else { return nil }
            bound = known
        }
        var kid: String?
        if let name = members["kid"] {
            guard case .text(let text) = name else { return nil }
            kid = text
        }
        guard var algorithms = try? await algorithms(of: members) else { return nil }
        if let bound { algorithms = algorithms.filter { $0.key == bound } }
        return algorithms.isEmpty ? nil : SigningKey(kid: kid, algorithms)
    }

    private static func algorithms(of members: AccessClaims) async throws -> [JWTAlgorithmName: any JWTAlgorithm] {
        func text(_ name: String) -> String? {
            guard case .text(let text)? = members[name], Base64URL.decode(text.utf8)?.isEmpty == false else {
                return nil
            }
            return text
        }
        let keys = JWTKeyCollection()
        switch (members["kty"], members["crv"]) {
        case (.text("RSA"), _):
            guard let n = text("n"), let e = text("e") else { return [:] }
            let key = try Insecure.RSA.PublicKey(modulus: n, exponent: e)
            let padded = JWTKeyCollection()
            await keys.add(rsa: key, digestAlgorithm: .sha256)
            await padded.add(pss: key, digestAlgorithm: .sha256)
            return [.rs256: try await keys.getKey(), .ps256: try await padded.getKey()]
        case (.text("EC"), .text("P-256")):
            guard let x = text("x"), let y = text("y") else { return [:] }
            await keys.add(ecdsa: try ES256PublicKey(parameters: (x, y)))
            return [.es256: try await keys.getKey()]
        case (.text("OKP"), .text("Ed25519")):
            guard let x = text("x") else { return [:] }
            await keys.add(eddsa: try EdDSA.PublicKey(x: x, curve: .ed25519))
            return [.edDSA: try await keys.getKey()]
        default:
            // Refuses `oct` too: a key set must not contain a secret.
            return [:]
        }
    }
}

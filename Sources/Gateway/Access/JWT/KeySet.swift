import MergeCore
import MergeWire

/// The public keys of an issuer (RFC 7517), without unusable keys.
struct KeySet: Sendable {
    private let keys: [SigningKey]
    let skipped: Int

    private static let most = 100

    var count: Int { keys.count }

    init() {
        keys = []
        skipped = 0
    }

    /// Reads a key set.
    ///
    /// - Throws: `KeySetError` without a usable key.
    init(_ json: [UInt8]) async throws(KeySetError) {
        let members: AccessClaims
        do {
            members = try ClaimsDecoder.decode(json)
        } catch {
            throw KeySetError("it is not a JSON object (\(error.detail))")
        }
        guard case .array(let entries)? = members["keys"] else { throw KeySetError("it has no array “keys”") }
        var keys: [SigningKey] = []
        for entry in entries.prefix(Self.most) {
            guard case .object(let fields) = entry else { continue }
            let named = fields.map { (ExactText($0.name), $0.value) }
            if let key = await SigningKey.publicKey(AccessClaims(Dictionary(named) { first, _ in first })) {
                keys.append(key)
            }
        }
        guard !keys.isEmpty else {
            throw KeySetError(
                "none of its \(entries.count) keys can be used; needed are RSA, EC (P-256) or OKP (Ed25519) for signatures"
            )
        }
        self.keys = keys
        skipped = entries.count - keys.count
    }

    /// Returns the keys that may have signed a token: those with its `kid`, or all if it has none.
    func keys(named kid: String?) -> [SigningKey] {
        guard let kid else { return keys }
        return keys.filter { $0.kid?.isExactly(kid) == true }
    }
}

/// A fault of a key set.
package struct KeySetError: Error, Sendable, CustomStringConvertible {
    /// The fault, which follows the name of the set.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

import MergeCore
import MergeWire
import Operations

/// The requirements for the claims of a token.
struct JWTClaims: Sendable {
    let issuer: String
    let audience: String
    let rolesClaim: String

    /// The seconds by which an issuer's clock may be ahead, for `nbf` only.
    private static let leeway = 60.0
    private static let longestSubject = 255

    /// Checks and returns the claims of a verified token.
    ///
    /// - Parameter now: seconds since 1970.
    func check(_ payload: [UInt8], now: Double) throws(TokenRefusal) -> (claims: AccessClaims, expiry: Double) {
        guard let claims = try? ClaimsDecoder.decode(payload) else { throw .claims }
        guard case .text(let name)? = claims["iss"], name.isExactly(issuer) else { throw .issuer }
        guard Self.texts(claims["aud"]).contains(where: { $0.isExactly(audience) }) else { throw .audience }
        guard let end = claims["exp"], let expiry = Self.seconds(end) else { throw .noEnd }
        guard now < expiry else { throw .expired }
        if let start = claims["nbf"] {
            guard let start = Self.seconds(start) else { throw .claims }
            guard start <= now + Self.leeway else { throw .early }
        }
        return (claims, expiry)
    }

    /// Returns the bearer of a token.
    ///
    /// - Throws: `TokenRefusal` without a usable `sub`.
    func bearer(_ claims: AccessClaims, expiry: Double) throws(TokenRefusal) -> Bearer {
        guard case .text(let subject)? = claims["sub"], !subject.isEmpty,
            subject.unicodeScalars.count <= Self.longestSubject,
            subject.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
        else { throw .subject }
        return Bearer(
            name: subject, rights: [.read, .write], roles: roles(claims), claims: claims, issuer: issuer,
            expiry: expiry)
    }

    /// Returns the roles: a string, an array of strings, or none.
    func roles(_ claims: AccessClaims) -> Set<ExactText> { Set(Self.texts(claims[rolesClaim]).map(ExactText.init)) }

    /// Returns a text, or all elements of an array of texts.
    private static func texts(_ value: Scalar?) -> [String] {
        switch value {
        case .text(let text): return [text]
        case .array(let elements):
            let texts = elements.compactMap { element in
                if case .text(let text) = element { text } else { nil as String? }
            }
            return texts.count == elements.count ? texts : []
        default: return []
        }
    }

    /// The end of the year 9999 in seconds since 1970, which prevents overflows.
    private static let latest = 253_402_300_800.0

    /// Reads a time (NumericDate of RFC 7519), limited to the supported range; nil if it is not a number.
    private static func seconds(_ value: Scalar) -> Double? {
        let seconds: Double? =
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): Double(number.text)
            case .vast(let number): Double(number.text)
            default: nil
            }
        return seconds.map { min(max($0, -latest), latest) }
    }
}

package import MergeCore
import MergeWire

/// Reads who a token speaks of, for an operator who wants to know what it may do.
package enum TokenInspection {
    /// Returns the client of a token.
    ///
    /// A JWT is read and not verified: what its claims would allow is the question here.
    ///
    /// - Parameters:
    ///   - token: as a client sends it.
    ///   - file: the path of the tokens file; nil where there is none.
    ///   - rolesClaim: the claim of a JWT that holds the roles.
    /// - Throws: `TokenFileError` where the tokens file cannot be read or does not know the token, or where the token is no
    ///   JWT.
    package static func viewer(
        of token: String, in file: String?, rolesClaim: String
    ) throws(TokenFileError) -> Viewer {
        if let file, let bearer = try TokenFile(path: file).bearer(of: TokenDigest(token)) { return bearer.viewer }
        guard JWTParts.isLike(token) else {
            throw TokenFileError(
                file.map { "\($0): the tokens file does not know the token" }
                    ?? "the token is no JWT; name the tokens file that knows it with --tokens")
        }
        do throws(TokenRefusal) {
            let parts = try JWTParts(token)
            guard let claims = try? ClaimsDecoder.decode(parts.payload) else { throw .claims }
            let reader = JWTClaims(issuer: "", audience: "", rolesClaim: rolesClaim)
            return try reader.bearer(claims, expiry: 0).viewer
        } catch {
            throw TokenFileError("the token cannot be read: \(error)")
        }
    }
}

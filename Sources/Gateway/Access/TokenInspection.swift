package import MergeCore
import MergeWire

/// Shows operators the client of a token.
package enum TokenInspection {
    /// Returns the client of a token.
    ///
    /// It reads JWTs without verifying them.
    ///
    /// - Parameters:
    ///   - file: the path of the tokens file, or nil.
    ///   - rolesClaim: the claim of a JWT that contains the roles.
    /// - Throws: `TokenFileError` if the file is unreadable, or if the token is neither in the file nor a JWT.
    package static func viewer(
        of token: String, in file: String?, rolesClaim: String
    ) throws(TokenFileError) -> Viewer {
        if let file, let bearer = try TokenFile(path: file).bearer(of: TokenDigest(token)) { return bearer.viewer }
        guard JWTParts.isLike(token) else {
            throw TokenFileError(
                file.map { "\($0): the tokens file does not contain the token" }
                    ?? "the token is not a JWT; name its tokens file with --tokens")
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

import ArgumentParser
import Gateway
import Logging

struct JWTOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Key set of an identity provider with accepted tokens: a file or its address.", valueName: "file|url"))
    var jwtKeys: String?

    @Option(help: ArgumentHelp("The “iss” that its tokens have.", valueName: "text"))
    var jwtIssuer: String?

    @Option(help: ArgumentHelp("The “aud” that its tokens have for this gateway.", valueName: "text"))
    var jwtAudience: String?

    @Option(
        help: ArgumentHelp("File with a secret of 32 bytes or more, which signs tokens with HS256.", valueName: "file"))
    var jwtSecretFile: String?

    @Option(help: ArgumentHelp("The claim that contains the roles. (default: roles)", valueName: "claim"))
    var jwtRoles: String?

    /// Returns the settings of a provider; nil if there is none.
    ///
    /// - Throws: `SettingsError` if a part is missing.
    func provider(_ settings: Settings) throws -> JWTSettings? {
        let keys = settings.text(jwtKeys, .jwtKeys)
        let secret = settings.text(jwtSecretFile, .jwtSecretFile)
        let issuer = settings.text(jwtIssuer, .jwtIssuer)
        let audience = settings.text(jwtAudience, .jwtAudience)
        let roles = settings.text(jwtRoles, .jwtRoles)
        guard keys != nil || secret != nil else {
            guard issuer == nil, audience == nil, roles == nil else {
                throw SettingsError(
                    "--jwt-issuer, --jwt-audience and --jwt-roles have no effect without --jwt-keys or --jwt-secret-file"
                )
            }
            return nil
        }
        guard let issuer, let audience, !issuer.isEmpty, !audience.isEmpty else {
            throw SettingsError(
                "--jwt-keys and --jwt-secret-file need --jwt-issuer and --jwt-audience: without them the tokens that a "
                    + "provider gives to anybody for anything would be let in")
        }
        var out = JWTSettings(issuer: issuer, audience: audience)
        out.keys = keys
        out.secretFile = secret
        if let roles { out.roles = roles }
        return out
    }

    /// Returns the verifier of a provider's tokens; nil if there is none.
    ///
    /// - Throws: `SettingsError` if the options cannot be used.
    func access(_ settings: Settings, logger: Logger) async throws -> JWTAccess? {
        guard let provider = try provider(settings) else { return nil }
        do {
            return try await JWTAccess(provider, logger: logger)
        } catch {
            throw SettingsError("the keys of tokens cannot be used: \(error)")
        }
    }
}

import Gateway
import ServiceLifecycle

/// The parts that identify clients and update tokens, keys and certificates.
struct AccessSetup {
    /// nil without a tokens file.
    let loader: TokensLoader?
    /// nil without an identity provider.
    let provider: JWTAccess?
    /// The gateway's own access tokens; nil without a tokens file.
    let own: AccessTokens?
    /// Services that read keys and certificates again that have no loader.
    var watches: [any Service] = []

    /// nil if the gateway requires no token.
    var verifier: AccessVerifier? {
        guard loader != nil || provider != nil else { return nil }
        return AccessVerifier(file: loader?.tokens, jwt: provider, own: own)
    }

    /// The services that update tokens and keys.
    var services: [any Service] {
        [loader as (any Service)?, provider as (any Service)?].compactMap(\.self) + watches
    }
}

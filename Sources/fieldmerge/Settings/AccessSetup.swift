import Gateway
import ServiceLifecycle

/// Everything that knows who a client is, and by whom it is talked to.
struct AccessSetup {
    /// nil where there is no tokens file.
    let loader: TokensLoader?
    /// nil where there is no identity provider.
    let provider: JWTAccess?
    /// Access tokens of the gateway's own; nil where there is no tokens file.
    let own: AccessTokens?
    /// The services that read keys and certificates again which have no loader of their own.
    var watches: [any Service] = []

    /// nil where nobody needs a token.
    var verifier: AccessVerifier? {
        guard loader != nil || provider != nil else { return nil }
        return AccessVerifier(file: loader?.tokens, jwt: provider, own: own)
    }

    /// The services that keep tokens and keys up to date.
    var services: [any Service] {
        [loader as (any Service)?, provider as (any Service)?].compactMap(\.self) + watches
    }
}

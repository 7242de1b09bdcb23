import MergeCore

/// Checks client version, origin, token and rate of a request.
struct Admission {
    let authentication: Authentication
    /// nil if clients need tokens.
    let pages: PageGuard?
    /// nil if every version is served.
    let minimum: MinimumClients?
    let rates: ClientRates

    /// Checks a request and stores its sender in the context.
    func admit(_ context: inout GatewayContext) async throws(Problem) {
        if let minimum, !context.path.isExactly("/healthz") { try minimum.check(context.headers) }
        try pages?.check(context.headers)
        context.bearer = try await authentication.bearer(context)
        if let bearer = context.bearer { context.failure.set(who: bearer.name) }
        if !Authentication.isOpen(context.path) { try rates.request(of: context.keyOwner) }
    }
}

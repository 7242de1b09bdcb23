import MergeCore

/// Lets in who may come in.
struct Admission {
    let authentication: Authentication
    /// nil where everyone needs a token.
    let pages: PageGuard?
    /// nil where programs of any age are served.
    let minimum: MinimumClients?
    let rates: ClientRates

    /// Lets a request in, and notes who sent it.
    ///
    /// - Throws: a `Problem` where it may not be served.
    func admit(_ context: inout GatewayContext) async throws(Problem) {
        if let minimum, !context.path.isExactly("/healthz") { try minimum.check(context.headers) }
        try pages?.check(context.headers)
        context.bearer = try await authentication.bearer(context)
        if let bearer = context.bearer { context.failure.set(who: bearer.name) }
        if !Authentication.isOpen(context.path) { try rates.request(of: context.keyOwner) }
    }
}

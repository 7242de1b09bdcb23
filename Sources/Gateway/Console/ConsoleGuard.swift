import MergeCore

/// Checks requests of the console, which have the header `X-Console`.
///
/// A page of another origin cannot send the header: no preflight allows it.
struct ConsoleGuard: Sendable {
    static let header = "x-console"

    let mode: ConsoleMode

    /// - Throws: a 403 `Problem` if the console may not send the request.
    func check(_ effect: RouteTable.Effect, of context: GatewayContext) throws(Problem) {
        guard context.headers[Self.header] != nil else { return }
        switch effect {
        case .reads: return
        case .writesWithoutPreview: if try context.query.flag("preview") { return }
        case .writes: break
        }
        guard mode == .full else {
            throw Problem(
                .consoleReadOnly, detail: "The console of this gateway writes nothing. --console full permits writes.",
                retry: .never)
        }
        guard Self.isOwn(context.headers["origin"], host: context.headers["host"]) else {
            throw Problem(
                .strangeOrigin,
                detail:
                    "A write of the console needs an Origin with the host and port of the header Host. A proxy must "
                    + "pass Host on.", retry: .never)
        }
    }

    /// Returns true if an origin has the host and port to which the request was sent.
    ///
    /// A proxy may have ended TLS, so the scheme is not compared.
    static func isOwn(_ origin: String?, host: String?) -> Bool {
        guard let origin = origin?.trimmingSpaces.lowercased(), let host = host?.trimmingSpaces.lowercased() else {
            return false
        }
        return origin == "http://" + host || origin == "https://" + host
    }
}

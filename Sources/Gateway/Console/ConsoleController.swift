import ConsoleFiles
import HTTPTypes
import Hummingbird
import MergeCore
import MergeWire
import Operations

/// Serves the files of the operators' console without a token, because they contain no data.
struct ConsoleController {
    let mode: ConsoleMode
    private let files: [String: ClientFile]

    /// A page may load only from its own origin, without inline scripts and styles.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    init(mode: ConsoleMode) {
        self.mode = mode
        let all = mode == .off ? [] : ConsoleFiles.all
        files = Dictionary(
            uniqueKeysWithValues: all.map { ($0.name, ClientFile($0.bytes, type: MediaType.of($0.name).type)) })
    }

    /// Adds no address if there is no console.
    func addRoutes(to routes: inout RouteTable) {
        guard mode != .off else { return }
        // The query is for the script of the page.
        routes.get("/console", query: nil, need: .nothing, use: page)
        routes.get("/console/:file", query: nil, need: .nothing, use: file)
        routes.get("/v1/operations/console", need: .operate, use: state)
    }

    /// Serves `/console` and `/console/`, which share a route.
    @Sendable private func page(_ request: Request, in context: GatewayContext) async throws -> Response {
        guard context.path.isExactly("/console") else { return try respond(files["index.html"], in: context) }
        // Relative addresses of the page need the slash.
        let query = request.uri.query.map { "?" + $0 } ?? ""
        return Response(status: .permanentRedirect, headers: [.location: "/console/" + query])
    }

    @Sendable private func file(_ request: Request, in context: GatewayContext) async throws -> Response {
        try respond(files[String(request.rawPath(1) ?? "")], in: context)
    }

    private func respond(_ file: ClientFile?, in context: GatewayContext) throws(Problem) -> Response {
        guard let file else { throw Problem(.noSuchAddress, detail: "The console has no file of this name.") }
        var fields: HTTPFields = [
            .eTag: file.tag, .cacheControl: file.caching, .contentSecurityPolicy: Self.policy,
            .crossOriginResourcePolicy: "same-origin",
        ]
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        if let known = context.headers["if-none-match"], EntityTag.matches(known, file.tag) {
            return Response(status: .notModified, headers: fields)
        }
        return Reply.json(file.bytes, to: context.headers, type: file.type, with: fields)
    }

    @Sendable private func state(_ request: Request, in context: GatewayContext) async throws -> Response {
        Reply.json(
            ConsoleJSON.state(mode: mode.rawValue, version: ProgramVersion.text), to: context.headers,
            with: [.cacheControl: "no-store"])
    }
}

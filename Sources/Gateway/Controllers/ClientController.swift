import ClientFiles
import HTTPTypes
import Hummingbird
import MergeCore

/// Serves the JavaScript client library without a token, because it contains no data.
struct ClientController {
    private let files: [String: ClientFile]
    private let library = ClientLibrary(modules: ClientFiles.modules, declarations: ClientFiles.declarations)

    /// The digest in the addresses of the modules.
    var version: String { library.digest }

    init() {
        files = (ClientFiles.modules + [ClientFiles.declarations]).reduce(into: [:]) { files, file in
            files[file.name] = ClientFile(file.bytes, name: file.name)
        }
    }

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/client/:file", need: .nothing, use: file)
        routes.get("/client/v1/:name", need: .nothing, use: entry)
        routes.get("/client/v1/:name/:file", need: .nothing, use: module)
    }

    /// Serves a file at its address without a version.
    @Sendable private func file(_ request: Request, in context: GatewayContext) async throws -> Response {
        try respond(files[String(request.rawPath(1) ?? "")], in: context)
    }

    @Sendable private func entry(_ request: Request, in context: GatewayContext) async throws -> Response {
        try respond(library.entries[String(request.rawPath(2) ?? "")], in: context)
    }

    @Sendable private func module(_ request: Request, in context: GatewayContext) async throws -> Response {
        guard request.rawPath(2) == library.digest[...] else {
            throw Problem(
                .noSuchAddress, detail: "This gateway has another version of the client library. Reload the page.")
        }
        return try respond(library.modules[String(request.rawPath(3) ?? "")], in: context)
    }

    private func respond(_ file: ClientFile?, in context: GatewayContext) throws(Problem) -> Response {
        guard let file else { throw Problem(.noSuchAddress, detail: "The client library has no file of this name.") }
        let fields: HTTPFields = [
            .eTag: file.tag, .cacheControl: file.caching, .xContentTypeOptions: "nosniff",
        ]
        if let known = context.headers["if-none-match"], EntityTag.matches(known, file.tag) {
            return Response(status: .notModified, headers: fields)
        }
        return Reply.json(file.bytes, to: context.headers, type: file.type, with: fields)
    }
}

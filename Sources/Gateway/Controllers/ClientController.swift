import ClientFiles
import HTTPTypes
import Hummingbird
import MergeCore
import MergeWire

/// Serves the JavaScript client library without a token, because it contains no data.
struct ClientController {
    private struct File {
        let bytes: [UInt8]
        let type: String
        let tag: String
    }

    private let files: [String: File]

    init() {
        var files: [String: File] = [:]
        for (name, bytes) in ClientFiles.modules + [ClientFiles.declarations] {
            files[name] = File(
                bytes: bytes,
                type: name.hasSuffix(".js") ? "text/javascript; charset=utf-8" : "text/plain; charset=utf-8",
                tag: EntityTag.of(bytes))
        }
        self.files = files
    }

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/client/:file", need: .nothing, use: file)
    }

    @Sendable private func file(_ request: Request, _ context: GatewayContext) async throws -> Response {
        guard let file = files[String(request.rawPath(1) ?? "")] else {
            throw Problem(.noSuchAddress, detail: "The client library has no file of this name.")
        }
        // Modules import each other in the same version, so browsers must revalidate each file.
        let fields: HTTPFields = [
            .eTag: file.tag, .cacheControl: "public, no-cache", .xContentTypeOptions: "nosniff",
        ]
        if let known = context.headers["if-none-match"], EntityTag.matches(known, file.tag) {
            return Response(status: .notModified, headers: fields)
        }
        return Reply.json(file.bytes, to: context.headers, type: file.type, with: fields)
    }
}

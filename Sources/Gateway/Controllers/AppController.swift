import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import NIOCore
import NIOPosix

/// Serves the files of the app without a token, because users sign in only on its pages.
struct AppController {
    let folder: AppFolder
    let logger: Logger

    private static let piece = 65_536
    /// The sizes for gzip.
    ///
    /// Smaller files gain nothing, and clients need the length of larger files.
    private static let packed = 1_024...4_194_304
    /// A page may load only from its own origin, without inline scripts.
    private static let policy =
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    /// The threads for blocking file access.
    private static let threads = NIOThreadPool.singleton

    func addRoutes(to routes: inout RouteTable) {
        // The query is for the script of the page.
        routes.get("/app", query: nil, need: .nothing, use: page)
        routes.get("/app/**", query: nil, need: .nothing, use: file)
    }

    /// Serves `/app` and `/app/`, which share a route.
    @Sendable private func page(_ request: Request, in context: GatewayContext) async throws -> Response {
        guard context.path.isExactly("/app") else { return try await file(request, context) }
        // Relative addresses of the page need the slash.
        let query = request.uri.query.map { "?" + $0 } ?? ""
        return Response(status: .permanentRedirect, headers: [.location: "/app/" + query])
    }

    @Sendable private func file(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let (path, folder) = (context.path.utf8, "/app/".utf8)
        guard path.starts(with: folder), let place = AppPath(path.dropFirst(folder.count)),
            let file = try await open(place, in: context)
        else {
            throw Problem(.noSuchAddress, detail: "The app has no file of this name.")
        }
        let (type, packs) = MediaType.of(place.names.last ?? "")
        var fields: HTTPFields = [
            .eTag: file.tag, .cacheControl: "public, no-cache", .vary: "Accept-Encoding",
            .contentSecurityPolicy: Self.policy, .crossOriginResourcePolicy: "same-origin",
        ]
        if let name = HTTPField.Name("Referrer-Policy") { fields[name] = "no-referrer" }
        if let known = context.headers["if-none-match"], EntityTag.matches(known, file.tag) {
            return Response(status: .notModified, headers: fields)
        }
        fields[.contentType] = type
        let isPacked = packs && Self.packed.contains(file.size) && Reply.acceptsGzip(context.headers)
        if isPacked { fields[.contentEncoding] = "gzip" }
        return Response(
            status: .ok, headers: fields, body: body(of: file, isPacked: isPacked, request, id: context.received.id))
    }

    private func open(_ place: AppPath, in context: GatewayContext) async throws -> AppFile? {
        do {
            return try await Self.threads.runIfActive { [folder] in try folder.file(at: place) }
        } catch let error as AppFolderError {
            logger.error("request id=\(context.received.id): \(error)")
            throw Problem(.internal, detail: "A file of the app cannot be read. The gateway's log contains the reason.")
        }
    }

    private func body(of file: AppFile, isPacked: Bool, _ request: Request, id: String) -> ResponseBody {
        let isHead = request.method == .head
        return ResponseBody(contentLength: isPacked ? nil : file.size) { [logger] writer in
            if !isHead {
                do {
                    let packer = isPacked ? try GzipStream() : nil
                    var offset = 0
                    while offset < file.size {
                        let bytes = try await Self.threads.runIfActive { [offset] in
                            try file.read(at: offset, count: Self.piece)
                        }
                        offset += bytes.count
                        try await writer.write(
                            ByteBuffer(bytes: packer?.pack(bytes, isLast: offset >= file.size) ?? bytes))
                    }
                } catch let error as AppFolderError {
                    logger.error("request id=\(id) broke off: \(error)")
                    throw error
                }
            }
            try await writer.finish(nil)
        }
    }
}

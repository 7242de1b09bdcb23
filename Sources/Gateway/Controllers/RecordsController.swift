import ChangeFeed
import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import MergeService
import MergeWire
import Operations

/// Serves the rules, single records, and pages of records.
struct RecordsController {
    let service: MergeService
    let plain: PlainReads
    let box: RulesBox
    let limits: WireLimits
    let logger: Logger

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/v1/rules", use: rules)
        routes.get("/v1/records/:resource", query: ["limit", "after"], use: page)
        routes.get("/v1/records/:resource/:id", use: record)
    }

    @Sendable private func rules(_ request: Request, in context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let catalog = active.catalog
        var limits = limits
        limits.bodyBytes = min(limits.bodyBytes, active.journal?.longestBody ?? .max)
        return tagged(
            RulesEncoder.encode(
                catalog, for: context.access(to: catalog)?.viewer, limits: limits, page: service.limits.pageSize),
            in: context)
    }

    @Sendable private func record(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let access = context.access(to: active.catalog)
        let resource = try active.resource(at: request, for: access)
        try active.requireInService(resource)
        let text = String(request.rawPath(3) ?? "")
        guard let key = try KeyText.lookup(text, resource.root),
            let read = try await plain.record(
                resource, key, under: active, for: access?.viewer, deadline: context.deadline,
                caller: context.received.caller)
        else {
            throw Problem(.noSuchRecord, detail: "The resource “\(resource.name)” has no record with this id.")
        }
        guard case .readable(let record) = read else { throw UnreadableRecord.problem }
        let length = record.length(in: resource)
        try context.hold(length)
        return await context.working(on: length) {
            tagged(RecordEncoder.encode(record, resource), in: context)
        }
    }

    @Sendable private func page(_ request: Request, in context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let access = context.access(to: active.catalog)
        let resource = try active.resource(at: request, for: access)
        try active.requireInService(resource)
        let after = try context.query["after"].map { text throws(Problem) in
            try KeyText.decode(String(text), resource.root)
        }
        return try await PageStream(service: service, logger: logger, isHead: request.method == .head)
            .answer(context, resource, after: after, limit: try limit(context.query), for: access?.viewer)
    }

    private func limit(_ query: Query) throws(Problem) -> Int {
        guard let text = try query.text("limit") else {
            return min(service.limits.defaultPageSize, service.limits.pageSize)
        }
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else {
            throw Problem(.invalid, about: .limit, detail: "“limit” must be a decimal integer.")
        }
        // Numbers beyond an Int are clamped too.
        let number = Int(text) ?? (text.hasPrefix("-") ? 0 : .max)
        return min(max(number, 1), service.limits.pageSize)
    }

    private func tagged(_ body: [UInt8], in context: GatewayContext) -> Response {
        let tag = EntityTag.of(body)
        if let known = context.headers["if-none-match"], EntityTag.matches(known, tag) {
            return Response(status: .notModified, headers: [.eTag: tag])
        }
        return Reply.json(body, to: context.headers, with: [.eTag: tag])
    }
}

extension RulesBox {
    /// - Throws: a 503 `Problem` if no rules are active.
    func ready() throws(Problem) -> ActiveRules {
        guard let active else {
            throw Problem(
                .notReady,
                detail:
                    "The database cannot be reached, or its schema does not fit the rules. /readyz names the reason.",
                retry: .later(.notReady, after: 5))
        }
        return active
    }
}

extension ActiveRules {
    /// Returns the resource of the URL.
    ///
    /// - Throws: a 404 `Problem` for a resource that is unknown or that the client may not read.
    func resource(at request: Request, for access: ClientAccess?) throws(Problem) -> Resource {
        let part = request.rawPath(2) ?? ""
        let isPlain = !part.utf8.contains(UInt8(ascii: "%"))
        let name = isPlain ? String(part) : KeyText.percentDecoded(part.utf8) ?? ""
        guard let resource = catalog.readable(name, by: access) else {
            let shown = name.utf8.count > NameIndex.maximumBytes ? "What the address names" : "“\(name)”"
            throw Problem(
                .unknownResource, about: .address,
                detail: shown + " is not a resource"
                    + NearestName.ending(for: name, among: catalog.readable(by: access).map(\.name)))
        }
        return resource
    }
}

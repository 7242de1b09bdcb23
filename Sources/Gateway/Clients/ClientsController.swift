import ChangeFeed
import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Serves the devices that use the gateways.
struct ClientsController {
    let service: MergeService
    let box: RulesBox
    let feed: ChangeFeed

    private static let limits = 1...1_000

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/v1/operations/clients", query: ["after", "limit"], need: .operate, use: list)
    }

    @Sendable private func list(_ request: Request, in context: GatewayContext) async throws -> Response {
        let limit = try FeedRequest.number("limit", in: context.query) ?? 100
        let count = min(max(limit, Self.limits.lowerBound), Self.limits.upperBound)
        let after = try context.query.text("after").map { text throws(Problem) in
            guard let cursor = ClientCursor(text: text) else {
                throw Problem(.invalid, about: .query, detail: "“after” is not the “next” of a page.")
            }
            return (cursor.who, cursor.device)
        }
        // One more row shows that a next page exists.
        let found = try await service.clients(
            after: after, limit: count + 1, active: try box.ready(), deadline: context.deadline)
        let page = found.prefix(count)
        let known = feed.known
        let body = ConsoleJSON.clients(
            page.map { client in
                let row = client.row
                let isCurrent = known.map { FeedState.ownName($0.feed) == row.feed } ?? false
                return ConsoleJSON.Client(
                    who: row.who, device: row.device.isEmpty ? nil : row.device, program: row.program, seen: row.seen,
                    revision: row.revision,
                    lag: isCurrent ? row.revision.map { max(0, (known?.revision ?? $0) - $0) } : nil,
                    refused: client.refused)
            },
            next: found.count > count
                ? page.last.map { ClientCursor(who: $0.row.who, device: $0.row.device).text } : nil)
        return Reply.json(body, to: context.headers, with: [.cacheControl: "no-store"])
    }
}

/// The place between two pages of devices, as hexadecimal digits.
struct ClientCursor: Equatable {
    let who: String
    let device: String

    init(who: String, device: String) {
        self.who = who
        self.device = device
    }

    var text: String { Hex.encode(Array(who.utf8)) + "." + Hex.encode(Array(device.utf8)) }

    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let who = Hex.decode(parts[0]).flatMap({ String(validating: $0, as: UTF8.self) }),
            let device = Hex.decode(parts[1]).flatMap({ String(validating: $0, as: UTF8.self) })
        else { return nil }
        self.init(who: who, device: device)
    }
}

import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Serves the counts of the journal's entries by minute.
struct ActivityController {
    let service: MergeService
    let box: RulesBox

    private static let minutes = 1...1_440

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/v1/operations/activity", query: ["minutes"], need: .operate, use: activity)
    }

    @Sendable private func activity(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let count = try FeedRequest.number("minutes", in: context.query) ?? 60
        guard Self.minutes.contains(count) else {
            throw Problem(.invalid, about: .query, detail: "“minutes” must be 1 to 1440.")
        }
        let activity = try await service.activity(minutes: count, active: try box.ready(), deadline: context.deadline)
        let body = ConsoleJSON.activity(
            now: activity.now,
            minutes: activity.minutes.map { minute in
                (
                    at: minute.minute.replacing(" ", with: "T") + ":00Z",
                    counts: [
                        ("entries", minute.entries), ("conflicts", minute.conflicts), ("refused", minute.refused),
                    ]
                )
            }, isComplete: activity.isComplete)
        return Reply.json(body, to: context.headers, with: [.cacheControl: "no-store"])
    }
}

import Testing
import TestSupport

/// A client on a bad network with all records.
///
/// It reads a snapshot once, and then follows the feed through all faults.
struct StubbornFollower: Sendable {
    let place: GatewayPlace

    /// The records of a follower by name.
    typealias Records = [String: String]

    private struct Replica {
        var feed = ""
        var revision = 0
        var records: Records = [:]

        mutating func take(snapshot text: String) throws -> Bool {
            let lines = try text.split(separator: "\n").map { try JSON(String($0)) }
            guard let head = lines.first?["snapshot"], lines.last?["end"] != nil else { return false }
            records = [:]
            for line in lines where line["record"] != nil { records[Self.name(line)] = line["record"]?.description }
            feed = head["feed"]?.text ?? ""
            revision = head["revision"]?.int ?? 0
            return true
        }

        mutating func take(_ page: JSON) throws {
            let revision = page["revision"]?.int ?? -1
            // A reported revision remains valid, even if the server is killed.
            try #require(revision >= self.revision)
            for change in page["changes"]?.array ?? [] {
                let record = change["record"]
                records[Self.name(change)] = record?.isNull == false ? record?.description : nil
            }
            self.revision = revision
        }

        static func name(_ line: JSON) -> String {
            "\(line["resource"]?.text ?? "")/\(line["id"].map(\.description) ?? "")"
        }
    }

    /// Follows the feed until all writers have ended and no change is left.
    ///
    /// - Returns: the records at the end, and the number of pages.
    func follow(until isOver: @Sendable () -> Bool) async throws -> (records: Records, pages: Int) {
        var replica = Replica()
        var pages = 0
        while true {
            try Task.checkCancellation()
            let port = try await place.port
            let wasOver = isOver()
            guard let page = try? await Self.page(replica, port) else { continue }
            switch page {
            case .snapshot(let text): _ = try replica.take(snapshot: text)
            case .changes(let changes, let latest):
                try replica.take(changes)
                pages += 1
                if wasOver, changes["more"]?.bool == false, replica.revision >= latest {
                    return (replica.records, pages)
                }
            case .none: break
            }
        }
    }

    private enum Page {
        case snapshot(String)
        case changes(JSON, latest: Int)
        case none
    }

    private static func page(_ replica: Replica, _ port: Int) async throws -> Page {
        let (feed, revision) = (replica.feed, replica.revision)
        return try await HTTPClient.with(port: port) { client async throws in
            if feed.isEmpty { return .snapshot(try await client.get("/v1/snapshot").text) }
            let answer = try await client.post(
                "/v1/sync", #"{"feed":"\#(feed)","since":\#(revision),"limit":7}"#)
            guard answer.status == 200 else {
                try #require(answer.status != 410 && answer.status != 400)
                return .none
            }
            let page = try answer.json()
            let latest = page["more"]?.bool == true ? .max : page["revision"]?.int ?? .max
            return .changes(page, latest: latest)
        }
    }
}

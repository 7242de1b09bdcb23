import FieldMergeClient
import Foundation

/// The records of a gateway in memory, and their history.
struct MemoryGatewayState {
    var records: [MemoryPlace: JSONValue] = [:]
    var runs: [String] = []
    private(set) var rules: Rules
    private var document: JSONValue
    private let defaults: [String: [String: JSONObject]]
    private var feed = 1
    private var revision = 1
    private var earliest = 1
    private var changes: [MemoryPlace: Int] = [:]
    private var kept: [String: (push: JSONValue, answer: JSONValue)] = [:]
    private var lastID = 1_000
    private var histories = MemoryHistories()

    init?(
        rules document: JSONValue, records told: [String: [JSONValue]], defaults: [String: [String: JSONObject]] = [:]
    ) {
        let document = Self.shaped(document)
        guard let rules = Rules(text: document.description) else { return nil }
        self.rules = rules
        self.document = document
        self.defaults = defaults
        for (resource, rows) in told {
            for row in rows { records[MemoryPlace(resource: resource, key: row["id"].key)] = row }
        }
    }

    /// Returns rules in which each resource has a shape.
    private static func shaped(_ document: JSONValue) -> JSONValue {
        var document = document
        let resources = (document["resources"].arrayValue ?? []).map { resource in
            guard resource["shape"].isNull else { return resource }
            var shaped = resource
            shaped["shape"] = .string(shape(of: resource))
            return shaped
        }
        document["resources"] = .array(resources)
        return document
    }

    /// Returns a digest of the names and types of a resource.
    private static func shape(of resource: JSONValue) -> String {
        let sections = (resource["sections"].arrayValue ?? []).map { section -> JSONValue in
            let groups = (section["groups"].arrayValue ?? []).map { group -> JSONValue in
                let fields = (group["fields"].arrayValue ?? []).map { [$0["field"], $0["type"]] as JSONValue }
                return [group["group"], .array(fields)]
            }
            let readOnly = (section["readOnly"].arrayValue ?? []).map { [$0["field"], $0["type"]] as JSONValue }
            return [section["section"], section["kind"], .array(groups), .array(readOnly)]
        }
        // FNV-1a.
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in JSONValue.array(sections).description.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return String(digest, radix: 16)
    }

    mutating func change(rules told: JSONValue, _ record: (String, JSONValue) -> JSONValue) -> Bool {
        let shaped = Self.shaped(told)
        guard let rules = Rules(text: shaped.description) else { return false }
        self.rules = rules
        document = shaped
        for (place, held) in records { records[place] = record(place.resource, held) }
        return true
    }

    private var feedName: JSONValue { .string("feed-\(feed)") }

    mutating func put(_ record: JSONValue?, at place: MemoryPlace) {
        records[place] = record
        touch(place)
    }

    mutating func beginAnew() {
        feed += 1
        revision += 1
        earliest = revision
        changes = [:]
        histories.begin(feed: feedName)
    }

    mutating func loseJournal(at time: Double) {
        kept = [:]
        histories.beginHistory(at: time)
        beginAnew()
    }

    mutating func backUp() { histories.backup = MemoryHistories.Backup(records: records, kept: kept, lastID: lastID) }

    mutating func restore(at time: Double) {
        guard let backup = histories.backup else { return }
        (records, kept, lastID) = (backup.records, backup.kept, backup.lastID)
        histories.beginHistory(at: time)
        beginAnew()
    }

    mutating func nextID() -> JSONValue {
        lastID += 1
        return .integer(Int128(lastID))
    }

    private mutating func touch(_ place: MemoryPlace) {
        revision += 1
        changes[place] = revision
    }

    // MARK: Requests

    mutating func serve(_ request: TransportRequest) -> Reply {
        guard let address = URLComponents(string: request.path) else { return .problem(404, "no-such-address") }
        let query = JSONValue.object(
            Dictionary((address.queryItems ?? []).map { ($0.name, .string($0.value ?? "")) }) { _, last in last })
        switch address.path {
        case "/v1/rules": return Reply(document)
        case "/v1/snapshot", "/v1/changes":
            if wanted(query).isSubset(of: rules.resources.keys) {
                return address.path == "/v1/snapshot" ? snapshot(query) : changes(query)
            }
            return .problem(404, "unknown-resource")
        case "/v1/sync":
            return sync(JSONValue(text: String(decoding: request.body ?? Data(), as: UTF8.self)) ?? .null)
        default:
            let parts = address.path.split(separator: "/").map(String.init)
            guard parts.count >= 3, parts[1] == "records" else { return .problem(404, "no-such-address") }
            guard parts.count > 3 else {
                let rows = records.filter { $0.key.resource == parts[2] }.sorted { $0.key < $1.key }.map(\.value)
                return Reply(["records": .array(rows), "next": .null])
            }
            let key = IDText(parts: parts[3].split(separator: ",").map { String($0) })
            return records[MemoryPlace(resource: parts[2], key: key)].map { Reply($0) }
                ?? .problem(404, "no-such-record")
        }
    }

    private func changes(_ query: JSONValue) -> Reply {
        let page = page(query)
        return page["changes"].isNull ? Reply(page["problem"], status: 410) : Reply(page)
    }

    private func wanted(_ query: JSONValue) -> Set<String> {
        if let names = query["resources"].stringValue { return Set(names.split(separator: ",").map(String.init)) }
        return query["resources"].arrayValue.map { Set($0.compactMap(\.stringValue)) } ?? Set(rules.resources.keys)
    }

    private func snapshot(_ query: JSONValue) -> Reply {
        let wanted = wanted(query)
        let cursor = query["after"].stringValue.flatMap { JSONValue(text: $0) }
        if let cursor, cursor[0] != feedName {
            return .problem(410, "resync", more: ["feed": feedName, "earliest": .integer(Int128(earliest))])
        }
        let from = cursor.map { $0[1] } ?? .integer(Int128(revision))
        let last = cursor.map { MemoryPlace(resource: $0[2].stringValue ?? "", key: IDText($0[3].stringValue ?? "")) }
        let places = records.keys.filter { place in
            wanted.contains(place.resource) && (last.map { $0 < place } ?? true)
        }.sorted()
        let count = JSONValue.integer(Int128(places.count))
        var lines: [JSONValue] = [
            [
                "snapshot": [
                    "feed": feedName, "revision": from, "rules": .string(rules.version), "records": count,
                    "resources": .array(wanted.sorted().map(JSONValue.string)),
                ]
            ]
        ]
        for (index, place) in places.enumerated() {
            let record = records[place] ?? .null
            lines.append(["resource": .string(place.resource), "id": record["id"], "record": record])
            if index % 2 == 1 {
                let cursor: JSONValue = [feedName, from, .string(place.resource), .string(place.key.string)]
                lines.append(["cursor": .string(cursor.description)])
            }
        }
        lines.append(["end": ["records": count]])
        return Reply(body: Data(lines.map { $0.description + "\n" }.joined().utf8))
    }

    private func page(_ query: JSONValue) -> JSONValue {
        var page: JSONValue = [
            "feed": feedName, "revision": .integer(Int128(revision)), "more": false, "rules": .string(rules.version),
            "changes": [],
        ]
        guard let since = query["since"].intValue else { return page }
        guard query["feed"] == feedName, since >= earliest, since <= revision else {
            page["changes"] = .null
            let reply = Reply.problem(410, "resync", more: ["feed": feedName, "earliest": .integer(Int128(earliest))])
            page["problem"] = JSONValue(text: String(decoding: reply.body, as: UTF8.self)) ?? .null
            return page
        }
        let wanted = wanted(query)
        let limit = max(1, min(500, query["limit"].intValue ?? 500))
        let due = changes.filter { $0.value > since && wanted.contains($0.key.resource) }.sorted { $0.value < $1.value }
        page["changes"] = .array(
            due.prefix(limit).map { place, revision in
                let record = records[place] ?? .null
                let number = Int(place.key.string).map { JSONValue.integer(Int128($0)) }
                return [
                    "revision": .integer(Int128(revision)), "resource": .string(place.resource),
                    "id": record.isNull ? number ?? .string(place.key.string) : record["id"], "record": record,
                    "by": .null,
                ]
            })
        if due.count > limit {
            page["revision"] = .integer(Int128(due[limit - 1].value))
            page["more"] = true
        }
        return page
    }

    // MARK: Pushes

    private mutating func sync(_ body: JSONValue) -> Reply {
        guard wanted(body).isSubset(of: rules.resources.keys) else { return .problem(400, "unknown-resource") }
        var ids: [String: JSONValue] = [:]
        var refused: Set<String> = []
        var results: [JSONValue] = []
        for told in body["pushes"].arrayValue ?? [] { results.append(push(told, ids: &ids, refused: &refused)) }
        var answer = page(body)
        answer["results"] = .array(results)
        let isWhole = results.allSatisfy { $0["code"] == 200 } && !answer["changes"].isNull
        return Reply(answer, status: isWhole ? 200 : 207)
    }

    private mutating func push(
        _ told: JSONValue, ids: inout [String: JSONValue], refused: inout Set<String>
    ) -> JSONValue {
        let key = told["key"].stringValue ?? ""
        if let known = kept[key] {
            guard known.push == told else { return Self.failed(key, status: 422, code: "key-reused") }
            for result in known.answer["results"].arrayValue ?? [] {
                ids.merge(result["ids"].objectValue ?? [:]) { _, last in last }
            }
            if known.answer["status"] != "merged" { refused.formUnion(creations(told)) }
            return known.answer
        }
        if !told["rules"].isNull, told["rules"] != .string(rules.version) {
            return Self.failed(key, status: 409, code: "rules-changed")
        }
        if let code = histories.refusal(of: told) {
            refused.formUnion(creations(told))
            return Self.failed(key, status: 409, code: code)
        }
        let text = told["edits"].description
        let answer =
            refused.contains(where: text.contains)
            ? Self.failed(key, status: 422, code: "depends-on-refused") : run(told, ids: &ids)
        if answer["status"] != "merged" { refused.formUnion(creations(told)) }
        kept[key] = (told, answer)
        return answer
    }

    private func creations(_ push: JSONValue) -> Set<String> {
        var found: Set<String> = []
        for edit in push["edits"].arrayValue ?? [] {
            let root = rules.resources[edit["resource"].stringValue ?? ""]?.root.name
            for (section, part) in edit["changeset"].objectValue ?? [:] {
                for row in part.arrayValue ?? [part] where row.objectValue?["old"] == .some(.null) {
                    let id = row.objectValue?["id"] ?? (section == root ? edit["id"] : .null)
                    if let temporary = id.temporaryID { found.insert(temporary) }
                }
            }
        }
        return found
    }

    private static func failed(_ key: String, status: Int, code: String) -> JSONValue {
        let problem = JSONValue(text: String(decoding: Reply.problem(status, code).body, as: UTF8.self)) ?? .null
        return [
            "key": .string(key), "status": "failed", "code": .integer(Int128(status)), "results": [],
            "problem": problem,
        ]
    }

    private mutating func run(_ told: JSONValue, ids: inout [String: JSONValue]) -> JSONValue {
        runs.append(told["key"].stringValue ?? "")
        let before = records
        let own = Dictionary(
            uniqueKeysWithValues: creations(told).sorted().map { temporary in
                lastID += 1
                return (temporary, JSONValue.integer(Int128(lastID)))
            })
        let known = ids.merging(own) { _, last in last }
        let edits = told["edits"].arrayValue ?? []
        var results: [JSONValue] = []
        var merge = MemoryMerge(rules: rules, defaults: defaults, records: records)
        do throws(MemoryRefusal) {
            for edit in edits {
                let mapped = edit.mappedDeep(known)
                let text = edit.description
                results.append([
                    "resource": edit["resource"], "id": mapped["id"], "status": "merged",
                    "ids": .object(own.filter { text.contains($0.key) }), "outcomes": .array(try merge.apply(mapped)),
                ])
            }
        } catch {
            return refused(told, edits: edits, by: error)
        }
        records = merge.records
        for place in Set(before.keys).union(records.keys).sorted() where before[place] != records[place] {
            touch(place)
        }
        for index in results.indices {
            let place = MemoryPlace(
                resource: results[index]["resource"].stringValue ?? "", key: results[index]["id"].key)
            results[index]["record"] = records[place] ?? .null
        }
        ids.merge(own) { _, last in last }
        return ["key": told["key"], "status": "merged", "code": 200, "revision": .null, "results": .array(results)]
    }

    private func refused(_ told: JSONValue, edits: [JSONValue], by refusal: MemoryRefusal) -> JSONValue {
        let reply = Reply.problem(refusal.status, refusal.code)
        let problem = JSONValue(text: String(decoding: reply.body, as: UTF8.self)) ?? .null
        let status: JSONValue = refusal.status == 409 ? "rejected" : "failed"
        let results = edits.map { edit -> JSONValue in
            let place = MemoryPlace(resource: edit["resource"].stringValue ?? "", key: edit["id"].key)
            return [
                "resource": edit["resource"], "id": edit["id"], "status": status, "record": records[place] ?? .null,
                "outcomes": [], "problem": problem,
            ]
        }
        return [
            "key": told["key"], "status": status, "code": .integer(Int128(refusal.status)), "results": .array(results),
            "problem": problem,
        ]
    }
}

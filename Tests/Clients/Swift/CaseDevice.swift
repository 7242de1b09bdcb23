import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Something that a step found and that is not as it should be.
struct CaseFault: Error, CustomStringConvertible {
    let description: String
}

/// A store, the server that delays its requests, and the names of values in a case.
actor CaseDevice {
    enum Turn {
        case held(HeldRequest)
        case over
    }

    let url: URL
    let clock = ManualClock()
    let declared: QueryIndexes
    var rules: JSONValue
    var results: [String: QueryResult] = [:]
    var live: [String: LiveCase] = [:]
    var snapshot: JSONValue
    var feed: JSONValue = "f1"
    var revision = 1
    var isOffline = false
    var subset: CaseSubset
    var names: [String: JSONValue] = [:]
    var tickets: [String: String] = [:]
    var remembered: [String: String] = [:]
    var told: [(kind: String, event: any Sendable, value: JSONValue)] = []
    var lastTold: [(kind: String, event: any Sendable, value: JSONValue)] = []
    var decisions: [JSONValue] = []
    var deciding: Registration?
    var kept: [String: Record] = [:]
    var forms: [String: RecordDraft] = [:]
    var formEvents: Int?
    var store: FieldMergeStore!
    var held: HeldRequest?
    var lastPush = ""
    var syncing: Task<Void, any Error>?
    var turns = AsyncStream<Turn>.makeStream()

    init(
        _ told: JSONValue, of table: JSONValue = SharedCases.model, at url: URL,
        _ declared: QueryIndexes = QueryIndexes()
    ) async throws {
        self.url = url
        self.declared = declared
        rules = table["rules"]
        let own = told["base"]
        snapshot = own.isNull ? table["base"] : own
        subset = CaseSubset(keep: told["keep"], isMeant: told.objectValue?["keep"] != nil)
        try await open()
        sync()
        await settle()
        try await quiet()
        guard await store.status.phase == .idle else { throw CaseFault(description: "the first sync failed") }
    }

    func open() async throws {
        (turns, formEvents) = (AsyncStream<Turn>.makeStream(), nil)
        let continuation = turns.continuation
        let server = ScriptedServer(clock: clock) { [weak self] request in await self?.serve(request) ?? .none }
        server.hold {
            $0.path.hasPrefix("/v1/sync") || $0.path.hasPrefix("/v1/changes")
        } _: {
            continuation.yield(.held($0))
        }
        store = try await memoryStore(
            server, at: url, clock: clock, indexes: declared.fields, search: declared.search,
            keep: CaseSubset.conditions(subset.keep))
    }

    func serve(_ request: TransportRequest) -> Reply {
        if request.path.hasPrefix("/v1/rules") { return Reply(rules) }
        guard request.path.hasPrefix("/v1/snapshot") else { return .problem(404, "no-such-address") }
        if isOffline { return Reply(status: 502, body: Data()) }
        let query = URLComponents(string: request.path)?.queryItems ?? []
        if query.contains(where: { $0.name == "unless" }) { return serveDifference(query) }
        if subset.isMeant {
            subset.agree(CaseSubset.filter(in: query), CaseSubset.filter(subset.keep))
            subset.filter = CaseSubset.filter(subset.keep)
        }
        let wanted = query.first { $0.name == "resources" }?.value.map {
            Set($0.split(separator: ",").map(String.init))
        }
        let records = (snapshot.arrayValue ?? []).filter { wanted?.contains($0["resource"].stringValue ?? "") ?? true }
        let count = JSONValue.integer(Int128(records.count))
        let head: JSONValue = [
            "snapshot": [
                "feed": feed, "revision": .integer(Int128(revision)), "rules": rules["version"], "resources": [],
                "records": count,
            ]
        ]
        let lines = [head] + records + [["end": ["records": count]]]
        return Reply(body: Data(lines.map { $0.description + "\n" }.joined().utf8))
    }

    // MARK: Placeholders

    func known(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text) where text.hasPrefix("$"): names[text] ?? value
        case .array(let elements): .array(elements.map(known))
        case .object(let members):
            .object(
                JSONObject(members.map { (known(.string($0.key)).key.string, known($0.value)) }) { _, last in last })
        default: value
        }
    }

    func matches(_ expected: JSONValue, _ found: JSONValue, isExact: Bool) -> Bool {
        switch (expected, found) {
        case (.string(let name), _) where name.hasPrefix("$"):
            if let held = names[name] { return held == found }
            names[name] = found
            return true
        case (.object(let one), .object(let other)):
            if isExact, one.count != other.count { return false }
            return one.sorted { $0.key < $1.key }.allSatisfy { name, value in
                other[name].map { matches(value, $0, isExact: isExact) } ?? false
            }
        case (.array(let one), .array(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { matches($0, $1, isExact: isExact) }
        default: return expected == found
        }
    }

    func expect(_ expected: JSONValue, _ found: JSONValue, isExact: Bool = false) throws {
        guard matches(expected, found, isExact: isExact) else {
            throw CaseFault(description: "expected \(expected), found \(found)")
        }
    }

    // MARK: Requests

    func sync() {
        guard syncing == nil, let store else { return }
        let continuation = turns.continuation
        syncing = Task {
            defer { continuation.yield(.over) }
            try await store.sync()
        }
    }

    func turn() async -> Turn {
        var iterator = turns.stream.makeAsyncIterator()
        return await iterator.next() ?? .over
    }

    func next() async throws -> HeldRequest {
        if held == nil {
            sync()
            await settle()
        }
        guard let held else { throw CaseFault(description: "no request comes") }
        return held
    }

    /// Waits until sync() is over, or has sent its next request.
    func settle() async {
        held = nil
        switch await turn() {
        case .held(let request): held = request
        case .over: syncing = nil
        }
    }

    /// Answers a pull that is under way with nothing, so that the sync ends.
    func quiet() async throws {
        while let request = held, request.request.path.hasPrefix("/v1/changes") {
            request.answer(page([]))
            await settle()
        }
    }

    func page(_ changes: JSONValue) -> JSONValue {
        [
            "feed": feed, "revision": .integer(Int128(revision)), "more": false, "rules": rules["version"],
            "changes": changes,
        ]
    }

    // MARK: Steps

    func run(_ step: JSONValue) async throws {
        let id = known(step["id"])
        let resource = step["resource"].stringValue ?? ""
        switch step["do"].stringValue {
        case "edit", "create", "delete", "transaction": try await edit(step)
        case "send": try await send(step)
        case "answer": try await answer(step)
        case "raw": try await raw(step)
        case "pull": try await pull(step)
        case "difference": try await difference(step)
        case "pulling":
            guard try await next().request.path.hasPrefix("/v1/changes") else {
                throw CaseFault(description: "it is no request for changes")
            }
        case "decide":
            decisions.append(step)
            deciding = try await store.onOvertaken { [weak self] event in await self?.decide(on: event) }
        case "keep": kept[step["as"].stringValue ?? ""] = try await store.record(resource, id)
        case "draft": open(try await store.draft(resource, id), step)
        case "type":
            let form = try form(step)
            change(&form.record, step)
        case "save": try await save(step)
        case "close": try form(step).close()
        case "read":
            let record = try await store.record(resource, id)
            try expect(step["record"], record?.value ?? .null, isExact: true)
        case "state":
            let state = try await store.state(
                resource, id, step["section"].stringValue, step["group"].stringValue,
                item: step["item"].isNull ? nil : known(step["item"]))
            try expect(step["state"], .string(state.rawValue))
        case "status":
            let status = await store.status
            let found: JSONValue = [
                "unsent": .integer(Int128(status.unsent)), "refused": .integer(Int128(status.refused)),
                "phase": .string(status.phase.rawValue), "message": status.message.map(JSONValue.string) ?? .null,
                "link": status.link.map(JSONValue.string) ?? .null,
            ]
            for (name, value) in step.objectValue ?? [:] where name != "do" { try expect(value, found[name]) }
        case "ticket": try await ticket(step)
        case "events": try await events(step)
        case "takeMine":
            guard let conflict = lastTold[step["event"].intValue ?? 0].event as? Conflict else {
                throw CaseFault(description: "this is no conflict")
            }
            try await conflict.takeMine()
        case "keepMine", "takeTheirs":
            guard let overtaken = lastTold[step["event"].intValue ?? 0].event as? Overtaken else {
                throw CaseFault(description: "nothing was overtaken")
            }
            if step["do"].stringValue == "keepMine" {
                try await overtaken.keepMine()
            } else {
                try await overtaken.takeTheirs()
            }
        default: try await runOnEntries(step)
        }
    }

    func runOnEntries(_ step: JSONValue) async throws {
        switch step["do"].stringValue {
        case "refused":
            let entries = try await store.refusedEdits()
            try expect(step["entries"], .array(entries.map(Self.value)))
        case "conflicts": try expect(step["entries"], .array(try await store.conflicts().map(Self.value)))
        case "unsent": try expect(step["entries"], .array(try await store.unsent().map(Self.value)))
        case "listed":
            do {
                try await callListed(step)
                guard step["error"].isNull else { throw CaseFault(description: "the call did not fail") }
            } catch { try expect(error, step) }
        case "deaf": break
        case "resend":
            guard try await store.refusedEdits()[step["entry"].intValue ?? 0].resend() else {
                throw CaseFault(description: "it was not sent again")
            }
        case "discard":
            guard try await store.refusedEdits()[step["entry"].intValue ?? 0].discard() else {
                throw CaseFault(description: "it was not given up")
            }
        case "remember": remembered[step["name"].stringValue ?? ""] = pushesOfLast()[step["push"].intValue ?? 0]
        case "same":
            let found = pushesOfLast()[step["push"].intValue ?? 0]
            guard remembered[step["name"].stringValue ?? ""] == found else {
                throw CaseFault(description: "the bytes differ: \(found)")
            }
        case "distinct":
            let values = (step["names"].arrayValue ?? []).map { names[$0.stringValue ?? ""]?.key }
            guard Set(values).count == values.count else { throw CaseFault(description: "\(values)") }
        case "restart":
            isOffline = false
            if let keep = step.objectValue?["keep"] { subset.keep = keep }
            await kill()
            clock.advance(60)
            try await open()
        default: try await runOnQueries(step)
        }
    }

    /// Ends the process without notice: nothing is written any more.
    func kill() async {
        store.context.observeSteps { _ in throw Killed() }
        held?.breakOff()
        held = nil
        syncing?.cancel()
        _ = await syncing?.result
        syncing = nil
        store.file.close()
    }
}

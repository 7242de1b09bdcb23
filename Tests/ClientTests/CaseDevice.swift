import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Something that a step found and that is not as it should be.
struct CaseFault: Error, CustomStringConvertible {
    let description: String
}

/// A store, the server that holds its requests, and the names that a case has given to values.
actor CaseDevice {
    private enum Turn {
        case held(HeldRequest)
        case over
    }

    private let url: URL
    private let clock = ManualClock()
    private var rules = SharedCases.model["rules"]
    private var snapshot: JSONValue
    private var feed: JSONValue = "f1"
    private var revision = 1
    private var isOffline = false
    private var names: [String: JSONValue] = [:]
    private var tickets: [String: String] = [:]
    private var remembered: [String: String] = [:]
    private var told: [(kind: String, event: any Sendable, value: JSONValue)] = []
    private var lastTold: [(kind: String, event: any Sendable, value: JSONValue)] = []
    private var decisions: [JSONValue] = []
    private var deciding: Registration?
    private var kept: [String: Record] = [:]
    private var forms: [String: RecordDraft] = [:]
    private var formEvents: Int?
    private var store: FieldMergeStore!
    private var held: HeldRequest?
    private var lastPush = ""
    private var syncing: Task<Void, any Error>?
    private var turns = AsyncStream<Turn>.makeStream()

    init(_ told: JSONValue, at url: URL) async throws {
        self.url = url
        let own = told["base"]
        snapshot = own.isNull ? SharedCases.model["base"] : own
        try await open()
        sync()
        await settle()
        try await quiet()
        guard await store.status.phase == .idle else { throw CaseFault(description: "the first sync failed") }
    }

    private func open() async throws {
        (turns, formEvents) = (AsyncStream<Turn>.makeStream(), nil)
        let continuation = turns.continuation
        let server = ScriptedServer(clock: clock) { [weak self] request in await self?.serve(request) ?? .none }
        server.hold {
            $0.path.hasPrefix("/v1/sync") || $0.path.hasPrefix("/v1/changes")
        } _: {
            continuation.yield(.held($0))
        }
        store = try await memoryStore(server, at: url, clock: clock)
    }

    private func serve(_ request: TransportRequest) -> Reply {
        if request.path.hasPrefix("/v1/rules") { return Reply(rules) }
        guard request.path.hasPrefix("/v1/snapshot") else { return .problem(404, "no-such-address") }
        if isOffline { return Reply(status: 502, body: Data()) }
        let query = URLComponents(string: request.path)?.queryItems ?? []
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

    private func known(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text) where text.hasPrefix("$"): names[text] ?? value
        case .array(let elements): .array(elements.map(known))
        case .object(let members):
            .object(
                JSONObject(members.map { (known(.string($0.key)).key, known($0.value)) }) { _, last in last })
        default: value
        }
    }

    private func matches(_ expected: JSONValue, _ found: JSONValue, isExact: Bool) -> Bool {
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

    private func expect(_ expected: JSONValue, _ found: JSONValue, isExact: Bool = false) throws {
        guard matches(expected, found, isExact: isExact) else {
            throw CaseFault(description: "expected \(expected), found \(found)")
        }
    }

    // MARK: Requests

    private func sync() {
        guard syncing == nil, let store else { return }
        let continuation = turns.continuation
        syncing = Task {
            defer { continuation.yield(.over) }
            try await store.sync()
        }
    }

    private func turn() async -> Turn {
        var iterator = turns.stream.makeAsyncIterator()
        return await iterator.next() ?? .over
    }

    private func next() async throws -> HeldRequest {
        if held == nil {
            sync()
            await settle()
        }
        guard let held else { throw CaseFault(description: "no request comes") }
        return held
    }

    /// Waits until sync() is over, or has sent its next request.
    private func settle() async {
        held = nil
        switch await turn() {
        case .held(let request): held = request
        case .over: syncing = nil
        }
    }

    /// Answers a pull that is under way with nothing, so that the sync ends.
    private func quiet() async throws {
        while let request = held, request.request.path.hasPrefix("/v1/changes") {
            request.answer(page([]))
            await settle()
        }
    }

    private func page(_ changes: JSONValue) -> JSONValue {
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

    private func runOnEntries(_ step: JSONValue) async throws {
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
            await kill()
            clock.advance(60)
            try await open()
        default: throw CaseFault(description: "unknown step")
        }
    }

    private func edit(_ step: JSONValue) async throws {
        let id = known(step["id"])
        let resource = step["resource"].stringValue ?? ""
        do {
            let ticket: Ticket
            switch step["do"].stringValue {
            case "create":
                let own: JSONValue? = step["id"].stringValue?.hasPrefix("$") == true ? .none : .some(id)
                ticket = try await store.create(resource, id: own) { change(&$0, step) }
                try expect(step["id"], ticket.id)
            case "delete": ticket = try await store.delete(resource, id)
            case "transaction":
                let parts = step["steps"].arrayValue ?? []
                let atomicity = step["atomic"].stringValue.flatMap(Atomicity.init) ?? .push
                ticket = try await store.transaction(atomicity: atomicity) { transaction in
                    for part in parts { try self.change(transaction, part) }
                }
            default:
                let base = step["base"].stringValue.flatMap { kept[$0] }
                ticket = try await store.edit(resource, id, base: base) { change(&$0, step) }
            }
            try note(ticket, step)
        } catch { try expect(error, step) }
    }

    private func note(_ ticket: Ticket, _ step: JSONValue) throws {
        guard step["error"].isNull else { throw CaseFault(description: "the edit did not fail") }
        if let name = step["ticket"].stringValue { tickets[name] = ticket.token }
    }

    /// Compares the error of a step; throws it where the step has none.
    private func expect(_ error: any Error, _ step: JSONValue) throws {
        if step["error"].isNull || error is CaseFault { throw error }
        let invalid = error as? InvalidEdit
        try expect(
            step["error"],
            [
                "path": invalid.map { .string($0.path) } ?? .null,
                "near": invalid?.nearest.map(JSONValue.string) ?? .null,
                "code": (error as? FieldMergeError)?.code.map(JSONValue.string) ?? .null,
            ])
    }

    // MARK: Forms and lists

    private func open(_ form: RecordDraft, _ step: JSONValue) {
        if formEvents == nil { formEvents = store.beginReading(.overtaken) }
        forms[step["as"].stringValue ?? ""] = form
    }

    private func form(_ step: JSONValue) throws -> RecordDraft {
        guard let form = forms[step["draft"].stringValue ?? ""] else { throw CaseFault(description: "no such form") }
        return form
    }

    private func save(_ step: JSONValue) async throws {
        do { try note(try await form(step).save(), step) } catch { try expect(error, step) }
    }

    private func callListed(_ step: JSONValue) async throws {
        let index = step["entry"].intValue ?? 0
        switch (step["of"].stringValue, step["call"].stringValue) {
        case ("conflicts", "dismiss"): try await store.conflicts()[index].dismiss()
        case ("conflicts", "takeMine"): try await store.conflicts()[index].takeMine()
        case ("conflicts", "keepMine"): try await store.conflicts()[index].keepMine()
        case ("conflicts", "takeTheirs"): try await store.conflicts()[index].takeTheirs()
        case ("unsent", "discard"): try await store.unsent()[index].discard()
        case ("refused", "resend"):
            let paths = step["without"].arrayValue?.compactMap(\.stringValue) ?? []
            try await store.refusedEdits()[index].resend(without: paths)
        case ("refused", "restore"):
            open(try await store.refusedEdits()[index].restore(), step)
        case ("refused", "discard"): try await store.refusedEdits()[index].discard()
        default: throw CaseFault(description: "unknown call")
        }
    }

    private func change(_ transaction: FieldMergeTransaction, _ part: JSONValue) throws {
        let resource = part["resource"].stringValue ?? ""
        switch part["do"].stringValue {
        case "delete": try transaction.delete(resource, known(part["id"]))
        case "create":
            let id = try transaction.create(resource) { edit in
                try expect(part["id"], edit.id)
                change(&edit, part)
            }
            try expect(part["id"], id)
        default: try transaction.edit(resource, known(part["id"])) { change(&$0, part) }
        }
    }

    private func change(_ record: inout RecordEdit, _ step: JSONValue) {
        for (path, value) in (step["set"].objectValue ?? [:]).sorted(by: { $0.key < $1.key }) {
            let parts = path.split(separator: ".").map(String.init)
            if parts.count == 1 {
                record[parts[0]] = known(value)
            } else if parts.count == 3, let index = Int(parts[1]) {
                record[parts[0], index, parts[2]] = known(value)
            } else {
                record[parts[0], parts[1]] = known(value)
            }
        }
        for (list, items) in step["append"].objectValue ?? [:] {
            for item in items.arrayValue ?? [] { record[list].append(known(item)) }
        }
        for (list, indexes) in step["remove"].objectValue ?? [:] {
            for index in (indexes.arrayValue ?? []).compactMap(\.intValue).sorted(by: >) {
                record[list].remove(at: index)
            }
        }
    }

    private func send(_ step: JSONValue) async throws {
        try await quiet()
        let held = try await next()
        guard held.request.path.hasPrefix("/v1/sync") else { throw CaseFault(description: held.request.path) }
        lastPush = String(decoding: held.request.body ?? Data(), as: UTF8.self)
        let found = held.json["pushes"].arrayValue ?? []
        let expected = step["pushes"].arrayValue ?? []
        guard found.count == expected.count else { throw CaseFault(description: "found \(found)") }
        for (one, push) in zip(expected, found) {
            for (name, value) in (one.objectValue ?? [:]).sorted(by: { $0.key < $1.key }) where name != "sent" {
                try expect(Self.sorted(value), Self.sorted(push[name]), isExact: true)
            }
            let form = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/
            let isTimed = push["sent"].stringValue?.wholeMatch(of: form) != nil
            guard isTimed == (one["sent"] != false), isTimed || push["sent"].isNull else {
                throw CaseFault(description: "sent is \(push["sent"])")
            }
        }
    }

    private func answer(_ step: JSONValue) async throws {
        let held = try await next()
        isOffline = step["offline"] == true
        change(step)
        if !step["feed"].isNull { feed = step["feed"] }
        revision += 1
        var body = page(step.objectValue?["changes"].map(known) ?? [])
        body["results"] = known(step["results"])
        if !step["problem"].isNull { body["problem"] = step["problem"] }
        let results = body["results"].arrayValue ?? []
        let isWhole = results.allSatisfy { $0["code"] == 200 } && !body["changes"].isNull
        held.answer(body, status: step["status"].intValue ?? (isWhole ? 200 : 207))
        await settle()
    }

    private func raw(_ step: JSONValue) async throws {
        let held = try await next()
        if let status = step["status"].intValue {
            held.reply(
                Reply(
                    status: status, headers: ["content-type": "application/problem+json"],
                    body: Data((step["body"].stringValue ?? "").utf8)))
        } else {
            held.breakOff()
        }
        await settle()
        if step["again"] == true, self.held == nil { throw CaseFault(description: "the client does not ask again") }
    }

    private func pull(_ step: JSONValue) async throws {
        let held = try await next()
        let isSync = held.request.path.hasPrefix("/v1/sync")
        if isSync, held.json["pushes"].count > 0 { throw CaseFault(description: "a push is sent") }
        revision += 1
        change(step)
        if step["resync"] == true {
            feed = step["feed"]
            held.reply(.problem(410, "resync"))
            return await settle()
        }
        var body = page(known(step["changes"]))
        if isSync { body["results"] = [] }
        held.answer(body)
        await settle()
    }

    private func decide(on event: Overtaken) async {
        guard let index = decisions.firstIndex(where: { $0["event"] == "overtaken" }) else { return }
        let step = decisions.remove(at: index)
        told.append(("overtaken", event, event.told))
        await deciding?.end()
        do {
            if !step["edit"].isNull {
                try await run(step["edit"])
            } else {
                if step["call"] == "keepMine" { try await event.keepMine() } else { try await event.takeTheirs() }
            }
        } catch {
            Issue.record("\(step): \(error)")
        }
    }

    private func ticket(_ step: JSONValue) async throws {
        let found = try await store.ticket(tickets[step["ticket"].stringValue ?? ""] ?? "")
        guard let ticket = found else { throw CaseFault(description: "there is no such ticket") }
        let outcome = await ticket.outcomeSoFar
        if step["open"] == true {
            guard outcome == nil else { throw CaseFault(description: "it has an outcome") }
            return
        }
        guard let outcome else { throw CaseFault(description: "it has no outcome") }
        try expect(
            step["outcome"],
            [
                "status": .string(outcome.status.rawValue), "problem": outcome.problem ?? .null,
                "record": outcome.record?.value ?? .null, "conflicts": .array(outcome.conflicts.map(Self.value)),
            ])
    }

    private func events(_ step: JSONValue) async throws {
        try await quiet()
        var after: Int64 = 0
        while let event = try await store.file.read({ [after] in try $0.nextEvent(EventKind.allCases, after: after) }) {
            after = event.number
            switch event.kind {
            case .conflict:
                let conflict = Conflict(event.body, store)
                told.append(("conflict", conflict, Self.value(conflict)))
            case .overtaken: told.append(("overtaken", Overtaken(event.body, store), event.body))
            case .gone: told.append(("gone", Gone(event.body), event.body))
            case .refused:
                let number = event.body["entry"].intValue.map(Int64.init)
                if let entry = try await store.refusedEdits().first(where: { $0.number == number }) {
                    told.append(("refused", entry, Self.value(entry)))
                }
            }
        }
        while let reader = formEvents, let event = store.readers.withLock({ $0[.overtaken]?.takeLive(reader) }) {
            told.append(("overtaken", Overtaken(event, store), event))
        }
        let last = after
        _ = try await store.file.write("event") { ledger in
            for kind in EventKind.allCases {
                var number: Int64 = 0
                while let event = try ledger.claimEvent(kind, after: number) { number = event.number }
                try ledger.forgetEvents(kind, through: last)
            }
        }
        let found = told.map { one -> JSONValue in
            var value = one.value
            value["event"] = .string(one.kind)
            return value
        }
        lastTold = told
        told = []
        try expect(step["events"], .array(found))
    }

    private static func value(_ conflict: Conflict) -> JSONValue {
        [
            "name": .string(conflict.name), "kind": .string(conflict.kind.rawValue),
            "resource": .string(conflict.resource), "id": conflict.id, "section": .string(conflict.section),
            "item": conflict.item ?? .null, "group": conflict.group.map(JSONValue.string) ?? .null,
            "outcome": .string(conflict.outcome), "old": conflict.old, "current": conflict.current,
            "new": conflict.new, "written": conflict.written, "by": conflict.by,
        ]
    }

    private static func value(_ entry: RefusedEdit) -> JSONValue {
        [
            "resource": .string(entry.resource), "id": entry.id, "record": entry.record?.value ?? .null,
            "problem": entry.problem, "name": .string(entry.name),
            "faulty": .array(entry.faulty.map(JSONValue.string)), "edits": value(entry.edits),
        ]
    }

    private static func value(_ entry: UnsentEdit) -> JSONValue {
        [
            "name": .string(entry.name), "resource": .string(entry.resource), "id": entry.id,
            "state": .string(entry.state.rawValue), "edits": value(entry.edits),
        ]
    }

    private static func value(_ parts: [RefusedEdit.Part]) -> JSONValue {
        .array(parts.map { ["resource": .string($0.resource), "id": $0.id, "changeset": $0.changeset] })
    }

    private func pushesOfLast() -> [String] {
        // Members are sorted, and each push begins with its edits or its atomicity; braces tell where it ends.
        guard let start = lastPush.range(of: "\"pushes\":[")?.upperBound else { return [] }
        var pushes: [String] = []
        var (depth, isText, isEscaped, current) = (0, false, false, "")
        for character in lastPush[start...] {
            if depth == 0, character == "]" { break }
            if depth > 0 || character == "{" { current.append(character) }
            if isEscaped {
                isEscaped = false
            } else if isText {
                if character == "\\" { isEscaped = true }
                if character == "\"" { isText = false }
            } else if character == "\"" {
                isText = true
            } else if character == "{" {
                depth += 1
            } else if character == "}" {
                depth -= 1
                if depth == 0 {
                    pushes.append(current)
                    current = ""
                }
            }
        }
        return pushes
    }

    /// Edits of a push with their items in an order of their own.
    private static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements):
            let rows = elements.map(sorted)
            guard rows.allSatisfy({ $0.objectValue?["id"] != nil && $0.objectValue?["changeset"] == nil }) else {
                return .array(rows)
            }
            func order(_ row: JSONValue) -> String {
                let key = row["id"].key
                return key.hasPrefix("tmp:") || key.hasPrefix("$") ? "\u{1F}1" : "\u{1F}0" + key
            }
            return .array(
                rows.enumerated().sorted { (order($0.1), $0.0) < (order($1.1), $1.0) }.map(\.element))
        case .object(let members): return .object(members.mapValues(sorted))
        default: return value
        }
    }

    /// Takes the rules and the snapshot of a step.
    private func change(_ step: JSONValue) {
        if let version = step["newRules"].stringValue { regroup(version, step["regroup"].arrayValue ?? []) }
        let own = step["resources"].arrayValue ?? []
        let held = (rules["resources"].arrayValue ?? []).map { resource in
            own.first { $0["resource"] == resource["resource"] } ?? resource
        }
        rules["resources"] = .array(held)
        if !step["snapshot"].isNull { snapshot = known(step["snapshot"]) }
    }

    private func regroup(_ version: String, _ groups: [JSONValue]) {
        rules["version"] = .string(version)
        for told in groups {
            var resources = rules["resources"].arrayValue ?? []
            for (at, resource) in resources.enumerated() where resource["resource"] == told["resource"] {
                var sections = resource["sections"].arrayValue ?? []
                for (index, section) in sections.enumerated() where section["section"] == told["section"] {
                    let names = told["fields"].arrayValue ?? []
                    let all = section["groups"].arrayValue ?? []
                    let fields = all.flatMap { $0["fields"].arrayValue ?? [] }.filter { names.contains($0["field"]) }
                    let rest = all.filter { !names.contains($0["fields"][0]["field"]) }
                    let joined: JSONValue = [
                        "group": told["group"], "onConflict": "client-wins", "fields": .array(fields),
                    ]
                    sections[index]["groups"] = .array([joined] + rest)
                }
                resources[at]["sections"] = .array(sections)
            }
            rules["resources"] = .array(resources)
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

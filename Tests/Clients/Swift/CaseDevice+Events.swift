import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Steps that compare outcomes and events.
extension CaseDevice {
    func decide(on event: Overtaken) async {
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

    func ticket(_ step: JSONValue) async throws {
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

    func events(_ step: JSONValue) async throws {
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

    static func value(_ conflict: Conflict) -> JSONValue {
        [
            "name": .string(conflict.name), "kind": .string(conflict.kind.rawValue),
            "resource": .string(conflict.resource), "id": conflict.id, "section": .string(conflict.section),
            "item": conflict.item ?? .null, "group": conflict.group.map(JSONValue.string) ?? .null,
            "outcome": .string(conflict.outcome), "old": conflict.old, "current": conflict.current,
            "new": conflict.new, "written": conflict.written, "by": conflict.by,
        ]
    }

    static func value(_ entry: RefusedEdit) -> JSONValue {
        [
            "resource": .string(entry.resource), "id": entry.id, "record": entry.record?.value ?? .null,
            "problem": entry.problem, "name": .string(entry.name),
            "faulty": .array(entry.faulty.map(JSONValue.string)), "edits": value(entry.edits),
        ]
    }

    static func value(_ entry: UnsentEdit) -> JSONValue {
        [
            "name": .string(entry.name), "resource": .string(entry.resource), "id": entry.id,
            "state": .string(entry.state.rawValue), "edits": value(entry.edits),
        ]
    }

    static func value(_ parts: [RefusedEdit.Part]) -> JSONValue {
        .array(parts.map { ["resource": .string($0.resource), "id": $0.id, "changeset": $0.changeset] })
    }
}

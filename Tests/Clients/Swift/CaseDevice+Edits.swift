import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Steps that edit, open forms and call entries of lists.
extension CaseDevice {
    func edit(_ step: JSONValue) async throws {
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

    func note(_ ticket: Ticket, _ step: JSONValue) throws {
        guard step["error"].isNull else { throw CaseFault(description: "the edit did not fail") }
        if let name = step["ticket"].stringValue { tickets[name] = ticket.token }
    }

    /// Compares the error with that of a step, and throws it if the step has none.
    func expect(_ error: any Error, _ step: JSONValue) throws {
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

    func open(_ form: RecordDraft, _ step: JSONValue) {
        if formEvents == nil { formEvents = store.beginReading(.overtaken) }
        forms[step["as"].stringValue ?? ""] = form
    }

    func form(_ step: JSONValue) throws -> RecordDraft {
        guard let form = forms[step["draft"].stringValue ?? ""] else { throw CaseFault(description: "no such form") }
        return form
    }

    func save(_ step: JSONValue) async throws {
        do { try note(try await form(step).save(), step) } catch { try expect(error, step) }
    }

    func callListed(_ step: JSONValue) async throws {
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

    func change(_ transaction: FieldMergeTransaction, _ part: JSONValue) throws {
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

    func change(_ record: inout RecordEdit, _ step: JSONValue) {
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
}

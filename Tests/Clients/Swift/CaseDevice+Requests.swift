import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Steps that compare and answer requests.
extension CaseDevice {
    func send(_ step: JSONValue) async throws {
        try await quiet()
        let held = try await next()
        guard held.request.path.hasPrefix("/v1/sync") else { throw CaseFault(description: held.request.path) }
        lastPush = String(decoding: held.request.body ?? Data(), as: UTF8.self)
        if subset.isMeant, !held.json["since"].isNull { try expect(subset.filter, held.json["filter"], isExact: true) }
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

    func answer(_ step: JSONValue) async throws {
        let held = try await next()
        isOffline = step["offline"] == true
        change(step)
        if !step["feed"].isNull { feed = step["feed"] }
        revision += 1
        var body = page(step.objectValue?["changes"].map(known) ?? [])
        // Without a stored position the client does not store changes of the answer.
        if subset.isMeant, held.json["since"].isNull { revision -= 1 }
        if let difference = step.objectValue?["difference"] { subset.difference = difference }
        body["results"] = known(step["results"])
        if !step["problem"].isNull { body["problem"] = step["problem"] }
        let results = body["results"].arrayValue ?? []
        let isWhole = results.allSatisfy { $0["code"] == 200 } && !body["changes"].isNull
        held.answer(body, status: step["status"].intValue ?? (isWhole ? 200 : 207))
        await settle()
        if !step["difference"].isNull { try await quiet() }
    }

    func raw(_ step: JSONValue) async throws {
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

    func pull(_ step: JSONValue) async throws {
        let held = try await next()
        let isSync = held.request.path.hasPrefix("/v1/sync")
        if isSync, held.json["pushes"].count > 0 { throw CaseFault(description: "a push is sent") }
        try checkFilter(held.request)
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

    func pushesOfLast() -> [String] {
        // Members are sorted, and each push begins with its edits or its atomicity. Braces mark its end.
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

    /// Edits of a push with sorted items.
    static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements):
            let rows = elements.map(sorted)
            guard rows.allSatisfy({ $0.objectValue?["id"] != nil && $0.objectValue?["changeset"] == nil }) else {
                return .array(rows)
            }
            func order(_ row: JSONValue) -> String {
                let key = row["id"].key.string
                return key.hasPrefix("tmp:") || key.hasPrefix("$") ? "\u{1F}1" : "\u{1F}0" + key
            }
            return .array(
                rows.enumerated().sorted { (order($0.1), $0.0) < (order($1.1), $1.0) }.map(\.element))
        case .object(let members): return .object(members.mapValues(sorted))
        default: return value
        }
    }

    /// Applies the rules and the snapshot of a step.
    func change(_ step: JSONValue) {
        if let version = step["newRules"].stringValue { regroup(version, step["regroup"].arrayValue ?? []) }
        let own = step["resources"].arrayValue ?? []
        let held = (rules["resources"].arrayValue ?? []).map { resource in
            own.first { $0["resource"] == resource["resource"] } ?? resource
        }
        rules["resources"] = .array(held)
        if !step["snapshot"].isNull { snapshot = known(step["snapshot"]) }
    }

    func regroup(_ version: String, _ groups: [JSONValue]) {
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
}

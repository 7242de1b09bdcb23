import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// A live query of a case, whose reader requests a value in each frame.
struct LiveCase {
    var iterator: LiveQuery.Iterator?
    let number: Int
    var value: QueryResult?
    var callbacks = 0
}

/// Steps that query.
extension CaseDevice {
    func runOnQueries(_ step: JSONValue) async throws {
        let name = (step["live"].nonNull ?? step["as"]).stringValue ?? ""
        switch step["do"].stringValue {
        case "query": try await query(step)
        case "live":
            let live = try store.live(try recordQuery(step))
            let iterator = live.makeAsyncIterator()
            self.live[name] = LiveCase(iterator: iterator, number: iterator.window.number)
        case "frame":
            try await quiet()
            for name in live.keys { try await takeTurn(name) }
        case "value":
            try expect(step["ids"], Self.ids(live[name]?.value))
            try expectFollowed(step, live[name]?.value)
            try expect(step["callbacks"], .integer(Int128(live[name]?.callbacks ?? 0)))
            live[name]?.callbacks = 0
            if let next = step["next"].boolValue { try expect(.bool(next), .bool(live[name]?.value?.next != nil)) }
            if let most = step["runs"].intValue, let number = live[name]?.number {
                let runs = store.liveQueries.diagnosis(of: number)["runs"].intValue ?? 0
                if runs > most { throw CaseFault(description: "\(runs) runs instead of \(most)") }
            }
        case "closeLive": live[name]?.iterator = nil
        default: throw CaseFault(description: "unknown step")
        }
    }

    /// The reader of a live query requests its next value, if there is one.
    private func takeTurn(_ name: String) async throws {
        guard var one = live[name], var iterator = one.iterator else { return }
        guard await store.liveQueries.value(of: one.number) != one.value else { return }
        guard let value = await iterator.next(isolation: self) else {
            throw CaseFault(description: "the live query has ended")
        }
        one.callbacks += 1
        (one.iterator, one.value) = (iterator, value)
        live[name] = one
    }

    func query(_ step: JSONValue) async throws {
        do {
            let query = try recordQuery(step)
            let result = try await store.query(query)
            guard step["error"].isNull else { throw CaseFault(description: "the query did not fail") }
            if !step["as"].isNull { results[step["as"].stringValue ?? ""] = result }
            try expect(step["ids"], Self.ids(result))
            try expectFollowed(step, result)
            if let next = step["next"].boolValue { try expect(.bool(next), .bool(result.next != nil)) }
            if let count = step["count"].intValue {
                let found = try await store.count(query.resource, where: query.conditions, search: query.search)
                try expect(.integer(Int128(count)), .integer(Int128(found)))
            }
        } catch let error as InvalidQuery {
            if step["error"].isNull { throw error }
            try expect(
                step["error"],
                [
                    "code": .string(error.code), "path": .string(error.path),
                    "near": error.nearest.map(JSONValue.string) ?? .null,
                ])
        }
    }

    private func expectFollowed(_ step: JSONValue, _ result: QueryResult?) throws {
        guard let expected = step["followed"].arrayValue else { return }
        guard let result, result.followed.count == expected.count else {
            throw CaseFault(description: "followed are \(result?.followed ?? [])")
        }
        for (one, found) in zip(expected, result.followed) {
            for (name, id) in one.objectValue ?? [:] { try expect(id, found[name]?.id ?? .null) }
        }
    }

    private static func ids(_ result: QueryResult?) -> JSONValue { .array(result?.map(\.id) ?? []) }

    private func recordQuery(_ step: JSONValue) throws -> RecordQuery {
        let told = known(step["query"])
        var query = RecordQuery(step["resource"].stringValue ?? "")
        query.search = told["search"].stringValue
        query.limit = told["limit"].intValue
        query.sort = told["sort"].arrayValue?.compactMap(\.stringValue) ?? []
        query.after = step["after"].stringValue.flatMap { results[$0]?.next } ?? told["after"].stringValue
        query.follow = told["follow"].objectValue?.compactMapValues(\.stringValue) ?? [:]
        for (path, condition) in told["where"].objectValue ?? [:] {
            query.conditions += Self.conditions(path, condition)
        }
        return query
    }

    static func conditions(_ path: String, _ told: JSONValue) -> [QueryCondition] {
        switch told {
        case .array(let values): return [.oneOf(path, values)]
        case .object(let members):
            var found: [QueryCondition] = []
            if members["from"] != nil || members["before"] != nil {
                found.append(.range(path, from: members["from"], before: members["before"]))
            }
            if let text = members["startsWith"]?.stringValue { found.append(.startsWith(path, text)) }
            return found + (members["not"].map { conditions(path, $0).map(QueryCondition.not) } ?? [])
        default: return [.equals(path, told)]
        }
    }
}

import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// The subset of a case, and its gateway's answers to requests for the difference of two filters.
struct CaseSubset {
    var keep: JSONValue
    /// Whether the case is about subsets.
    let isMeant: Bool
    /// The filter of the feed; null for all records.
    var filter: JSONValue = .null
    var difference: JSONValue = .null
    /// Requests that were not as expected.
    var faults: [String] = []

    init(keep: JSONValue, isMeant: Bool) {
        self.keep = keep
        self.isMeant = isMeant
    }

    mutating func agree(_ found: JSONValue, _ expected: JSONValue) {
        if found != expected { faults.append("found \(found), expected \(expected)") }
    }

    /// The filter of a subset; null for all records.
    static func filter(_ keep: JSONValue) -> JSONValue {
        let parts = (keep.objectValue ?? [:]).compactMapValues { told -> JSONValue? in
            told["where"].objectValue?.isEmpty == false ? told["where"] : nil
        }
        return parts.isEmpty ? .null : .object(parts)
    }

    static func filter(in query: [URLQueryItem]) -> JSONValue {
        query.first { $0.name == "filter" }?.value.flatMap { JSONValue(text: $0) } ?? .null
    }

    /// Returns the option of `open`.
    static func conditions(_ keep: JSONValue) -> [String: [QueryCondition]] {
        (keep.objectValue ?? [:]).mapValues { told in
            (told["where"].objectValue ?? [:]).map { path, value in
                switch value {
                case .array(let values): .oneOf(path, values)
                case .object(let range): .range(path, from: range["from"], before: range["before"])
                default: .equals(path, value)
                }
            }
        }
    }
}

/// Steps about subsets.
extension CaseDevice {
    func difference(_ step: JSONValue) async throws {
        subset.difference = step
        sync()
        await settle()
        try await quiet()
        guard subset.difference.isNull else { throw CaseFault(description: "the difference was not requested") }
        try checkFaults()
    }

    /// Answers a request for the difference of two filters by the last step.
    ///
    /// Without a step there is no answer.
    func serveDifference(_ query: [URLQueryItem]) -> Reply {
        let told = subset.difference
        guard !told.isNull else { return Reply(status: 502, body: Data()) }
        subset.difference = told["then"]
        let filter = CaseSubset.filter(told.objectValue?["keep"] ?? subset.keep)
        func value(_ name: String) -> JSONValue {
            query.first { $0.name == name }?.value.map(JSONValue.string) ?? .null
        }
        subset.agree(value("unless"), .string("\(feed.stringValue ?? ""):\(revision)"))
        subset.agree(CaseSubset.filter(in: query), filter)
        subset.agree(value("after"), told["after"])
        if let status = told["status"].intValue {
            if !told["snapshot"].isNull { (snapshot, feed) = (told["snapshot"], told["feed"]) }
            return .problem(status, told["code"].stringValue ?? "")
        }
        let head: JSONValue = [
            "snapshot": [
                "feed": told["feed"], "revision": .integer(Int128(revision)), "rules": rules["version"],
                "resources": [], "records": .null,
            ]
        ]
        let isBroken = !told["cursor"].isNull
        let last: JSONValue = isBroken ? ["cursor": told["cursor"]] : ["end": ["records": 0]]
        if !isBroken { (subset.filter, feed) = (filter, told["feed"]) }
        let lines = [head] + (told["lines"].arrayValue ?? []) + [last]
        return Reply(body: Data(lines.map { $0.description + "\n" }.joined().utf8))
    }

    /// Compares the filter of a request for changes with that of the feed.
    func checkFilter(_ request: TransportRequest) throws {
        guard subset.isMeant, request.path.hasPrefix("/v1/changes") else { return }
        let query = URLComponents(string: request.path)?.queryItems ?? []
        try expect(subset.filter, CaseSubset.filter(in: query), isExact: true)
        try checkFaults()
    }

    private func checkFaults() throws {
        guard subset.faults.isEmpty else { throw CaseFault(description: "\(subset.faults)") }
    }
}

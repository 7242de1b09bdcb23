/// The option `keep`: a subset on the device, as the filter that requests have.
package struct SubsetFilter: Sendable, Hashable {
    /// The filter; null for all records.
    let value: JSONValue

    /// All records.
    static let none = SubsetFilter(value: .null)

    private init(value: JSONValue) { self.value = value }

    /// Makes the filter of a subset.
    ///
    /// The gateway checks names and values.
    ///
    /// - Parameter keep: conditions on fields of root sections, by resource.
    /// - Throws: `InvalidQuery` for a condition that a filter cannot have.
    package init(keep: [String: [QueryCondition]]) throws {
        var filter: JSONObject = [:]
        for (resource, conditions) in keep where !conditions.isEmpty {
            var fields: JSONObject = [:]
            for condition in conditions {
                guard fields[condition.path] == nil else {
                    throw Self.fault(of: condition, in: resource, "has two conditions. Use one.")
                }
                fields[condition.path] = try Self.value(of: condition, on: resource)
            }
            filter[resource] = .object(fields)
        }
        value = filter.isEmpty ? .null : .object(filter)
    }

    private static func value(of condition: QueryCondition, on resource: String) throws -> JSONValue {
        switch condition.test {
        case .equals(let value): return value
        case .oneOf(let values): return .array(values)
        case .range(let from, let before):
            var range: JSONObject = [:]
            range["from"] = from
            range["before"] = before
            return .object(range)
        case .startsWith, .not:
            throw fault(of: condition, in: resource, "can only have equals, oneOf or range in “keep”.")
        }
    }

    private static func fault(of condition: QueryCondition, in resource: String, _ detail: String) -> InvalidQuery {
        InvalidQuery("invalid-query", path: "keep.\(resource).\(condition.path)", detail)
    }
}

/// The difference between the records of the feed and the records that the app wants.
struct SubsetDifference: Sendable {
    let filter: JSONValue
    /// The place in the changes up to which the client has the records of the feed.
    let unless: FeedPlace

    /// `unless` of the request.
    var text: String { "\(unless.feed):\(unless.revision)" }
}

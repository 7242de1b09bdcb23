package import MergeCore
import MergeWire
package import RecordStore

/// Reads the filter of journal entries from a URL or the command line.
package struct JournalQuery {
    private let catalog: Catalog?
    private static let maximumLimit = 1_000

    /// The names of all parameters.
    package static let members = ["resource", "id", "who", "outcome", "since", "after", "limit", "refused"]

    /// - Parameter catalog: the rules, which “id” needs.
    package init(catalog: Catalog?) {
        self.catalog = catalog
    }

    /// - Parameter value: returns a parameter; nil if it is absent.
    /// - Throws: a 400 `Problem` that names the wrong parameter.
    package func filter(_ value: (String) throws(Problem) -> String?) throws(Problem) -> JournalFilter {
        var filter = JournalFilter()
        filter.resource = try value("resource")
        filter.who = try value("who")
        if let id = try value("id") {
            guard let name = filter.resource else { throw Self.invalid("“id” needs “resource” beside it") }
            guard let catalog else { throw Self.invalid("“id” needs the rules") }
            guard let resource = catalog[name] else {
                throw Self.invalid(
                    "“\(name)” is not a resource\(NearestName.hint(for: name, among: catalog.resources.map(\.name)))")
            }
            filter.record = KeyText.encode(try KeyText.decode(id, resource.root), resource.root)
        }
        if let refused = try value("refused") {
            guard ["true", "false"].containsExactly(refused) else { throw Self.invalid("“refused” is true or false") }
            filter.onlyRefused = refused.isExactly("true")
        }
        if let outcome = try value("outcome") {
            let words = OutcomeKind.allCases.map(\.rawValue)
            guard words.containsExactly(outcome) else {
                throw Self.invalid("“\(outcome)” is not an outcome\(NearestName.hint(for: outcome, among: words))")
            }
            filter.outcome = outcome
        }
        if let since = try value("since") { filter.since = try Self.time(since) }
        if let after = try value("after") { filter.after = try Self.number(after, "after") }
        if let limit = try value("limit") {
            filter.limit = min(max(try Self.number(limit, "limit"), 1), Self.maximumLimit)
        }
        return filter
    }

    private static func number(_ text: String, _ name: String) throws(Problem) -> Int {
        guard let number = Int(text) else { throw invalid("“\(name)” is a whole number") }
        return number
    }

    /// Reads a date, or a date and time with a UTC offset.
    private static func time(_ text: String) throws(Problem) -> DateTime {
        let wrong = invalid("“since” is a date such as 2026-11-20 or a time such as 2026-11-20T10:00:00Z")
        if case .date(let date)? = try? ColumnType.date.accept(.text(text)) {
            guard let start = DateTime(date: date, microseconds: 0) else { throw wrong }
            return start
        }
        guard case .dateTime(let moment)? = try? ColumnType.timestamp(fraction: 6, nil).accept(.text(text)) else {
            throw wrong
        }
        return moment
    }

    private static func invalid(_ detail: String) -> Problem {
        Problem(.invalid, about: .query, detail: detail + ".")
    }
}

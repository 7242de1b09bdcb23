package import MergeCore
import MergeWire
package import RecordStore

/// Reads the filter of journal entries from a URL or the command line.
package struct JournalQuery {
    private let catalog: Catalog?
    private static let maximumLimit = 1_000

    /// The names of all parameters.
    package static let members = [
        "resource", "id", "who", "device", "group", "field", "outcome", "code", "since", "until", "after", "limit",
        "refused", "settled", "conflicts", "order",
    ]

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
        filter.device = try value("device")
        filter.code = try value("code")
        if let id = try value("id") {
            guard let name = filter.resource else { throw Self.invalid("“id” needs “resource” beside it") }
            guard let catalog else { throw Self.invalid("“id” needs the rules") }
            guard let resource = catalog[name] else {
                throw Self.invalid(
                    "“\(name)” is not a resource\(NearestName.hint(for: name, among: catalog.resources.map(\.name)))")
            }
            filter.record = KeyText.encode(try KeyText.decode(id, resource.root), resource.root)
        }
        filter.onlyRefused = try Self.flag("refused", value)
        filter.includesDropped = try Self.flag("settled", value)
        filter.onlyConflicts = try Self.flag("conflicts", value)
        if filter.onlyRefused, filter.onlyConflicts {
            throw Self.invalid("“refused” and “conflicts” cannot be used together")
        }
        if let order = try value("order") {
            guard ["oldest", "newest"].containsExactly(order) else { throw Self.invalid("“order” is oldest or newest") }
            filter.isBackward = order.isExactly("newest")
        }
        if let outcome = try value("outcome") {
            let words = OutcomeKind.allCases.map(\.rawValue)
            guard words.containsExactly(outcome) else {
                throw Self.invalid("“\(outcome)” is not an outcome\(NearestName.hint(for: outcome, among: words))")
            }
            filter.outcome = outcome
        }
        if let since = try value("since") { filter.since = try Self.time(since, name: "since") }
        if let until = try value("until") { filter.until = try Self.time(until, name: "until") }
        if let name = try value("group") { filter.group = try group(named: name, of: filter.resource) }
        if let name = try value("field") {
            guard filter.group == nil else { throw Self.invalid("“field” and “group” cannot be used together") }
            filter.group = try group(ofField: name, of: filter.resource)
        }
        if let after = try value("after") { filter.after = try Self.number(after, name: "after") }
        if let limit = try value("limit") {
            filter.limit = min(max(try Self.number(limit, name: "limit"), 1), Self.maximumLimit)
        }
        return filter
    }

    /// Reads a name such as `customer.phone` or `lines`; the journal may contain names that the rules no longer have.
    private func group(named name: String, of resource: String?) throws(Problem) -> EntryGroup {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard let section = parts.first, parts.count == 2 || !name.contains(".") else {
            throw Self.invalid("“group” is a name such as customer.phone, or the name of a section")
        }
        return EntryGroup(section: section, group: parts.count == 2 ? parts[1] : nil)
    }

    /// Returns the group that contains a field such as `customer.phone`.
    private func group(ofField name: String, of resource: String?) throws(Problem) -> EntryGroup {
        guard let resource = resource.flatMap({ catalog?[$0] }) else {
            throw Self.invalid("“field” needs “resource” beside it, and the rules")
        }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        if parts.count == 2, let index = resource.section(named: parts[0]) {
            let section = resource.sections[index]
            if let field = section.field(named: parts[1]), let group = section.group(ofField: field) {
                return EntryGroup(section: section.name, group: section.groups[group].name)
            }
            if let group = section.groups.first(where: { $0.name == parts[1] }) {
                let fields = group.fields.map { section.fields[$0].name }.joined(separator: ", ")
                throw Self.invalid("“\(name)” is a group; “group” finds it, and “field” one of its fields: \(fields)")
            }
        }
        let names = resource.sections.flatMap { section in section.fields.map { section.name + "." + $0.name } }
        throw Self.invalid(
            "“\(name)” is not a field that clients write, as SECTION.FIELD\(NearestName.ending(for: name, among: names))"
        )
    }

    private static func flag(
        _ name: String, _ value: (String) throws(Problem) -> String?
    ) throws(Problem) -> Bool {
        guard let text = try value(name) else { return false }
        guard ["true", "false"].containsExactly(text) else { throw invalid("“\(name)” is true or false") }
        return text.isExactly("true")
    }

    private static func number(_ text: String, name: String) throws(Problem) -> Int {
        guard let number = Int(text) else { throw invalid("“\(name)” is a whole number") }
        return number
    }

    /// Reads a date, or a date and time with a UTC offset.
    private static func time(_ text: String, name: String) throws(Problem) -> DateTime {
        let wrong = invalid("“\(name)” is a date such as 2026-11-20 or a time such as 2026-11-20T10:00:00Z")
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

import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Explanations of an empty list, which a misspelled name may have caused.
///
/// The journal may contain names that the rules no longer have, so the newest entries count too.
extension JournalDesk {
    private static let newest = 1_000

    /// Returns a warning if none of the newest entries has a resource; else nil.
    package func doubt(about resource: String) async throws(JournalFault) -> String? {
        let names = Set(try await newestEntries().map(\.resource))
        guard !names.contains(resource) else { return nil }
        return "“\(resource)” is not a resource of the journal's newest entries"
            + NearestName.hint(for: resource, among: names.sorted())
    }

    /// Checks the name of a group or section, such as `customer.phone` or `customer`.
    ///
    /// - Parameters:
    ///   - resource: the resource of the group; nil for all.
    ///   - rules: the folder of the rule files; nil if it is unknown.
    /// - Returns: a warning if the rules cannot be read and no newest entry has the name; else nil.
    /// - Throws: a fault that names the groups if neither the rules nor the newest entries have the name.
    package func checkGroup(
        _ name: String, of resource: String?, rules: String?
    ) async throws(JournalFault) -> String? {
        var sections: Set<String> = []
        var groups: Set<String> = []
        for entry in try await newestEntries() where resource == nil || entry.resource == resource {
            for outcome in OutcomeReader.entry(entry.body).outcomes {
                sections.insert(outcome.section)
                if let group = outcome.group { groups.insert(outcome.section + "." + group) }
            }
        }
        var catalog: Catalog?
        if let rules { catalog = try? await active(rules).catalog }
        for known in catalog?.resources ?? [] where resource == nil || known.name == resource {
            for section in known.sections {
                sections.insert(section.name)
                for group in section.groups { groups.insert(section.name + "." + group.name) }
            }
        }
        guard !sections.contains(name), !groups.contains(name) else { return nil }
        let names = groups.sorted()
        let hint = NearestName.ending(for: name, among: names)
        let all = names.isEmpty ? "" : " The groups are \(names.joined(separator: ", "))"
        guard catalog != nil else {
            return "no group or section “\(name)” in the journal's newest entries\(hint)\(all)"
        }
        throw JournalFault(
            "no group or section “\(name)” in the rules and in the journal's newest entries\(hint)\(all)")
    }

    private func newestEntries() async throws(JournalFault) -> [JournalEntry] {
        var filter = JournalFilter()
        (filter.limit, filter.isBackward) = (Self.newest, true)
        do {
            return try await journal.entries(filter, deadline).compactMap(\.entry)
        } catch {
            throw JournalFault(error)
        }
    }
}

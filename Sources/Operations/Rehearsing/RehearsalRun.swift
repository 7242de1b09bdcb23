import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Judges stored entries under two sets of rules.
struct RehearsalRun {
    private let active: Catalog
    private let new: Catalog
    private let rehearsals: [String: EntryRehearsal]

    init(active: ActiveRules, new: Catalog) {
        self.active = active.catalog
        self.new = new
        var rehearsals: [String: EntryRehearsal] = [:]
        for resource in active.catalog.resources {
            guard let counterpart = new[resource.name] else { continue }
            rehearsals[resource.name] = EntryRehearsal(active: resource, new: counterpart)
        }
        self.rehearsals = rehearsals
    }

    func judge(_ entry: StoredEntry, addingTo report: inout RehearsalReport) {
        report.add(judged(entry), of: entry.entry?.resource ?? "", entry: entry.number)
    }

    private func judged(_ stored: StoredEntry) -> [EntryRehearsal.Judged] {
        guard let entry = stored.entry else { return [] }
        if let reason = reason(stored, resource: entry.resource) {
            return EntryRehearsal.unjudged(entry.body, because: reason)
        }
        return rehearsals[entry.resource]?.judge(entry.body, isOfActiveRules: entry.rules == active.version) ?? []
    }

    /// Returns the reason why no outcome of an entry can be judged, if any.
    private func reason(_ stored: StoredEntry, resource: String) -> UnjudgedReason? {
        if stored.sender == .foreignProgram { return .foreignChange }
        if stored.key?.hasPrefix("undo:") == true { return .undo }
        for (rules, catalog) in [(UnjudgedReason.RuleSet.active, active), (.new, new)] where catalog[resource] == nil {
            return .missing("resource “\(resource)”", rules)
        }
        return nil
    }

    /// Returns a difference with the values of its entry.
    func example(at place: RehearsalReport.Place, in stored: StoredEntry) -> RehearsalExample? {
        guard let entry = stored.entry, let resource = active[entry.resource], let counterpart = new[entry.resource],
            let judged = judged(stored).first(where: { $0.position == place.position }),
            case .different(let difference) = judged.verdict,
            let outcome = EntryRehearsal.outcome(place.position, of: entry.body),
            let section = resource.section(named: judged.section),
            let newSection = counterpart.section(named: judged.section)
        else { return nil }
        return RehearsalExample(
            entry: stored.number, at: stored.at, resource: entry.resource, record: entry.record, outcome: outcome,
            difference: difference, sections: (resource.sections[section], counterpart.sections[newSection]))
    }
}

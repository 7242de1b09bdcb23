package import MergeCore

/// Decides the outcomes of journal entries of one resource again, under two sets of rules.
package struct EntryRehearsal {
    private let active: Resource
    private let new: Resource
    private let rehearsal: Rehearsal

    /// One outcome of an entry with its verdict.
    package struct Judged: Sendable {
        /// The position among the outcomes that were decided.
        package let position: Int
        /// The name of the section; empty if the entry has no outcome.
        package let section: String
        /// The name of the group; nil for a whole row.
        package let group: String?
        /// The verdict.
        package let verdict: RehearsalVerdict
    }

    /// Compares two versions of a resource.
    package init(active: Resource, new: Resource) {
        self.active = active
        self.new = new
        rehearsal = Rehearsal(active: active, new: new, digest: CanonicalJSON.digest)
    }

    /// Judges each outcome of an entry, except rows that were deleted along with their record.
    ///
    /// - Parameter isOfActiveRules: True if the active rules decided the entry.
    package func judge(_ entry: [UInt8], isOfActiveRules: Bool) -> [Judged] {
        Self.each(entry, otherwise: .refusedBeforeMerge) { outcomes in
            let rows = RowParts(outcomes, of: active)
            return outcomes.map { outcome in
                do throws(UnjudgedReason) {
                    return try verdict(outcome, rows: rows, isOfActiveRules: isOfActiveRules)
                } catch {
                    return .unjudged(error)
                }
            }
        }
    }

    /// Returns the outcomes of an entry with the reason why none can be judged.
    package static func unjudged(_ entry: [UInt8], because reason: UnjudgedReason) -> [Judged] {
        each(entry, otherwise: reason) { $0.map { _ in .unjudged(reason) } }
    }

    private static func each(
        _ entry: [UInt8], otherwise reason: UnjudgedReason, _ verdicts: ([JSONNode]) -> [RehearsalVerdict]
    ) -> [Judged] {
        let judged = JSONDocument.stored(entry) { root in
            let outcomes = decided(root)
            return zip(outcomes, verdicts(outcomes)).enumerated().map { position, pair in
                Judged(
                    position: position, section: pair.0["section"]?.string ?? "", group: pair.0["group"]?.string,
                    verdict: pair.1)
            }
        }
        if let judged, !judged.isEmpty { return judged }
        let verdict = RehearsalVerdict.unjudged(judged == nil ? .unreadable : reason)
        return [Judged(position: 0, section: "", group: nil, verdict: verdict)]
    }

    /// Returns an outcome that was decided, with its values as text.
    package static func outcome(_ position: Int, of entry: [UInt8]) -> OutcomeText? {
        (JSONDocument.stored(entry) { root in
            decided(root).dropFirst(position).first.map { OutcomeReader.outcome($0) }
        }) ?? nil
    }

    /// Returns the outcomes that were decided.
    ///
    /// A row that was deleted along with its record has only current values.
    private static func decided(_ root: JSONNode) -> [JSONNode] {
        (root["outcomes"]?.elements ?? []).filter { $0["new"] != nil || $0["erased"] != nil }
    }

    private func verdict(
        _ outcome: JSONNode, rows: RowParts, isOfActiveRules: Bool
    ) throws(UnjudgedReason) -> RehearsalVerdict {
        if outcome["erased"] != nil { throw .isErased }
        guard let kind = outcome["outcome"]?.string.flatMap({ OutcomeKind(rawValue: $0) }) else { throw .unreadable }
        let name = outcome["section"]?.string ?? ""
        let readers = try (reader(of: name, in: active, .active), reader(of: name, in: new, .new))
        var edits: (RehearsedEdit, RehearsedEdit)
        if outcome["group"] != nil {
            let all = try rows.parts(beside: outcome)
            let own = try RowParts.parts(of: outcome, in: readers.0.section)
            edits = try (readers.0.groupEdit(own, among: all), readers.1.groupEdit(own, among: all))
        } else {
            let row = try RowOutcome(outcome, kind, recordExists: rows.showRecord)
            edits = try (readers.0.rowEdit(row), readers.1.rowEdit(row))
        }
        if readers.0.section.kind != .root, let wasRestored = rows.wasRestored {
            edits.0 = try edits.0.inMissingRecord(wasRestored: wasRestored, of: active)
            edits.1 = try edits.1.inMissingRecord(wasRestored: wasRestored, of: new)
        }
        let recorded = RecordedOutcome(
            kind: kind, rule: outcome["rule"]?.string ?? "", isOfActiveRules: isOfActiveRules)
        return rehearsal.judge(recorded, active: edits.0, new: edits.1)
    }

    private func reader(
        of name: String, in resource: Resource, _ rules: UnjudgedReason.RuleSet
    ) throws(UnjudgedReason) -> RehearsedEditReader {
        guard let position = resource.section(named: name) else { throw .missing("section “\(name)”", rules) }
        return RehearsedEditReader(section: resource.sections[position], position: position, rules: rules)
    }
}

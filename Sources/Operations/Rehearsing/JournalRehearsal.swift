package import MergeCore
package import MergeService
package import MergeWire
package import RecordStore

/// Decides entries again under the active rules and under new rules, and writes nothing.
package struct JournalRehearsal: Sendable {
    private let service: MergeService
    private let active: ActiveRules
    private let new: Catalog
    private let deadline: @Sendable () -> ContinuousClock.Instant
    private static let page = 5_000

    /// - Parameters:
    ///   - active: the active rules with the journal.
    ///   - deadline: the deadline of a read that begins now.
    package init(
        service: MergeService, active: ActiveRules, new: Catalog,
        deadline: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.service = service
        self.active = active
        self.new = new
        self.deadline = deadline
    }

    /// How far a rehearsal has come.
    package struct Progress: Sendable {
        /// The number of entries that were judged.
        package let entries: Int
        /// The estimated number of all entries.
        package let estimate: Int
    }

    /// Judges the entries of a filter, the oldest first.
    ///
    /// - Parameter goesOn: receives the progress after each page of entries; false ends the rehearsal.
    /// - Returns: the report, and false if it lacks the newest entries.
    package func run(
        _ filter: JournalFilter, goesOn: (Progress) throws -> Bool
    ) async throws -> (report: RehearsalReport, isComplete: Bool) {
        let run = RehearsalRun(active: active, new: new)
        var filter = filter
        filter.limit = Self.page
        let last = try await lastNumber(filter)
        var first: Int?
        var report = RehearsalReport()
        var isComplete = true
        while true {
            let page = try await JournalPages(service: service, active: active, deadline: deadline()).page(filter)
            let start = first ?? page.entries.first?.number ?? last
            first = start
            for entry in page.entries { run.judge(entry, addingTo: &report) }
            let progress = Progress(entries: report.entries, estimate: max(report.entries, last - start + 1))
            let mayGoOn = try goesOn(progress)
            guard let next = page.next else { break }
            guard mayGoOn else {
                isComplete = false
                break
            }
            filter.after = next
        }
        for place in report.selectedPlaces {
            let stored = try await service.entry(place.entry, active: active, deadline: deadline())
            if let example = run.example(at: place, in: stored) { report.examples.append(example) }
        }
        return (report, isComplete)
    }

    /// Returns the number of the newest entry of a filter, for an estimate.
    private func lastNumber(_ filter: JournalFilter) async throws -> Int {
        var newest = filter
        (newest.limit, newest.isBackward, newest.after) = (1, true, nil)
        return try await service.entries(newest, active: active, deadline: deadline()).first?.number ?? 0
    }

    /// Returns the filter of a rehearsal.
    ///
    /// - Parameters:
    ///   - resource: the only resource; nil for all.
    ///   - since: the time of the oldest entry; nil for all.
    /// - Throws: a 400 `Problem` if a name or the time is wrong.
    package static func filter(
        _ catalog: Catalog, resource: String?, since: String?
    ) throws(Problem) -> JournalFilter {
        if let resource, catalog[resource] == nil {
            let hint = NearestName.hint(for: resource, among: catalog.resources.map(\.name))
            throw Problem(.invalid, detail: "“\(resource)” is not a resource of the active rules\(hint).")
        }
        return try JournalQuery(catalog: nil).filter { name throws(Problem) in
            switch name {
            case "resource": resource
            case "since": since.map { moment($0) }
            default: nil
            }
        }
    }

    /// Returns the time of a number of days before now; any other text is returned as it is.
    private static func moment(_ text: String) -> String {
        guard text.hasSuffix("d"), let days = Int(text.dropLast()), (0...36_500).contains(days), let now = DateTime.now,
            let moment = DateTime(
                secondsSince1970: now.microsecondsSince1970 / 1_000_000 - days * 86_400, microsecond: 0)
        else { return text }
        return moment.text(separator: "T", fraction: 0) + "Z"
    }
}

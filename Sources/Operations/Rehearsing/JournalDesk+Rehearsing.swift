import MergeCore
import MergeService
package import MergeWire
import RecordStore

extension JournalDesk {
    /// How far a rehearsal has come.
    package struct RehearsalProgress: Sendable {
        /// The number of entries that were judged.
        package let entries: Int
        /// The estimated number of all entries.
        package let estimate: Int
    }

    /// Decides entries again under the active rules and under new rules, and writes nothing.
    ///
    /// - Parameters:
    ///   - active: the folder of the active rules.
    ///   - new: the folder of the new rules.
    ///   - resource: the only resource; nil for all.
    ///   - since: the time of the oldest entry; nil for all.
    ///   - report: receives the progress after each page of entries.
    package func rehearse(
        active: String, new: String, resource: String?, since: String?,
        report: (RehearsalProgress) throws -> Void
    ) async throws -> RehearsalReport {
        let active = try await rules(active)
        let run = RehearsalRun(active: active, new: try await rules(new).catalog)
        let service = MergeService.wire(engine)
        var filter = try filter(active.catalog, resource: resource, since: since)
        let last = try await lastNumber(filter)
        var first: Int?
        var result = RehearsalReport()
        while true {
            let page = try await JournalPages(service: service, active: active, deadline: deadline).page(filter)
            let start = first ?? page.entries.first?.number ?? last
            first = start
            for entry in page.entries { run.judge(entry, addingTo: &result) }
            try report(
                RehearsalProgress(entries: result.entries, estimate: max(result.entries, last - start + 1)))
            guard let next = page.next else { break }
            filter.after = next
        }
        for place in result.selectedPlaces {
            if let example = run.example(at: place, in: try await journal.entry(place.entry, deadline)) {
                result.examples.append(example)
            }
        }
        return result
    }

    private static let page = 5_000

    /// Returns the number of the newest entry of a filter, for an estimate.
    private func lastNumber(_ filter: JournalFilter) async throws -> Int {
        var newest = filter
        (newest.limit, newest.isBackward, newest.after) = (1, true, nil)
        return try await journal.entries(newest, deadline).first?.number ?? 0
    }

    private func filter(_ catalog: Catalog, resource: String?, since: String?) throws(JournalFault) -> JournalFilter {
        if let resource, catalog[resource] == nil {
            let hint = NearestName.hint(for: resource, among: catalog.resources.map(\.name))
            throw JournalFault("“\(resource)” is not a resource of the active rules\(hint)")
        }
        do {
            var filter = try JournalQuery(catalog: nil).filter { name throws(Problem) in
                switch name {
                case "resource": resource
                case "since": since
                default: nil
                }
            }
            filter.limit = Self.page
            return filter
        } catch {
            throw JournalFault(error)
        }
    }

    private func rules(_ folder: String) async throws -> ActiveRules {
        do throws(JournalFault) {
            return try await self.active(folder)
        } catch {
            throw JournalFault("\(folder): \(error)")
        }
    }
}

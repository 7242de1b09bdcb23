import MergeCore
import MergeService
package import MergeWire
import RecordStore

extension JournalDesk {
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
        report: (JournalRehearsal.Progress) throws -> Void
    ) async throws -> RehearsalReport {
        let active = try await rules(active)
        let rehearsal = JournalRehearsal(
            service: MergeService.wire(engine), active: active, new: try await rules(new).catalog,
            deadline: { self.deadline })
        do {
            let filter = try JournalRehearsal.filter(active.catalog, resource: resource, since: since)
            return try await rehearsal.run(filter) { progress in
                try report(progress)
                return true
            }.report
        } catch let problem as Problem {
            throw JournalFault(problem)
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

import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Completes a stored answer.
///
/// The journal stores private values only as digests. Their values come from the push and from the current records.
struct ReplayedAnswer: Sendable {
    let service: MergeService
    let active: ActiveRules
    let access: ClientAccess?
    let deadline: ContinuousClock.Instant

    /// Returns the body of an answer.
    ///
    /// A digest remains if its value no longer exists.
    ///
    /// - Parameters:
    ///   - push: the body of the push.
    ///   - address: the path of its URL.
    func body(_ answer: PushAnswer, to push: [UInt8], at address: String) async throws(StoreError) -> [UInt8] {
        guard answer.isReplay else { return answer.body }
        guard answer.access == access?.digest else { return await filtered(answer.body) }
        guard let journal = active.journal else { return answer.body }
        guard let wanted = PrivateValues.records(in: answer.body, active.catalog) else { return answer.body }
        var records: [(resource: Resource, record: [UInt8])] = []
        for (resource, key) in wanted {
            let read = try await service.record(resource, key, for: access?.viewer, deadline: deadline)
            guard case .readable(let record)? = read else { continue }
            records.append((resource, RecordEncoder.encode(record, resource)))
        }
        return journal.codec.revealed(answer.body, push, address, records, active.catalog)
    }

    /// Returns the part of an answer that the client may read now.
    ///
    /// Private values remain digests.
    private func filtered(_ body: [UInt8]) async -> [UInt8] {
        guard let viewer = access?.viewer else { return body }
        var standing: [ReadRecord?] = []
        for (resource, key) in ReplayFilter.records(in: body, of: active.catalog) {
            standing.append(try? await service.record(resource, key, for: viewer, deadline: deadline))
        }
        return ReplayFilter.filtered(body, standing: standing, for: viewer, of: active.catalog) ?? []
    }
}

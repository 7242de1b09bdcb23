import GRDB

/// A subset on the device: only records that match the filter of `open` are kept. The gateway filters.
///
/// Notes: `keep` is the app's filter, `filter` the feed's; neither is noted for all records. If they differ, a snapshot with
/// the difference is due. `target` has the filter of a started difference, which is read to its end even if the app's filter
/// changes. `left` has records outside the filter that have edits without an answer.
extension Ledger {
    /// Notes the filter that the app wants from now on.
    ///
    /// All processes of a store have the subset that was opened last.
    func claimSubset() throws {
        let wanted = context.subset.value
        guard try meta("keep") != wanted else { return }
        try setMeta("keep", wanted)
        // A snapshot of all records of another subset is of no use.
        if try feedPlace() == nil || !meta("resnapshot").isNull { try setMeta("snapshot", .null) }
    }

    /// Returns the filter of the feed; null for all records.
    func feedFilter() throws -> JSONValue { try meta("filter") }

    /// Returns the difference that is due; nil if there is none.
    func dueDifference() throws -> SubsetDifference? {
        let target = try meta("target")
        let wanted = try target.isNull ? meta("keep") : target["filter"]
        guard try wanted != feedFilter(), try meta("resnapshot").isNull, let place = try feedPlace() else { return nil }
        return SubsetDifference(filter: wanted, unless: place)
    }

    /// Returns the resources that are only here in part.
    func partialResources() throws -> Set<String> {
        let filters = [try meta("keep"), try meta("filter"), try meta("target")["filter"]]
        return Set(filters.flatMap { ($0.objectValue ?? [:]).keys })
    }

    /// Returns whether to keep a record that the gateway reports as gone: it may only have left the filter.
    func stays(_ line: RecordLine, among parts: Set<String>) throws -> Bool {
        guard parts.contains(line.resource), context.keeps(line.resource) else { return false }
        return try stays(line.resource, line.id, isLost: line.record == nil && line.problem == nil)
    }

    /// Returns whether to keep a record that the gateway may not report any more, for its edits.
    func stays(_ resource: String, _ id: JSONValue, isLost: Bool) throws -> Bool {
        let place = RecordPlace(resource: resource, key: id.key)
        let isHeld = try isLost && meta("otherHistory").isNull && base(place) != nil
        let stays = try isHeld && !pending(place).isEmpty
        try noteLeft(resource, id: id, hasLeft: stays)
        return stays
    }

    private func noteLeft(_ resource: String, id: JSONValue, hasLeft: Bool) throws {
        let left = try left()
        var noted = left.filter { $0[0] != .string(resource) || $0[1].key != id.key }
        if hasLeft { noted.append([.string(resource), id]) }
        if noted != left { try setMeta("left", noted.isEmpty ? .null : .array(noted)) }
    }

    private func left() throws -> [JSONValue] { try meta("left").arrayValue ?? [] }

    /// Keeps a record outside the store until the answer, if it is edited or sent again.
    ///
    /// - Parameter base: the record that the app read; nil if only the answer counts.
    func revive(_ resource: String, _ id: JSONValue, base: JSONObject?) throws {
        let place = RecordPlace(resource: resource, key: id.key)
        guard try partialResources().contains(resource), try self.base(place) == nil else { return }
        if var base {
            base["id"] = id
            try put(resource, id: id, base, before: nil)
            incoming = []
        }
        try noteLeft(resource, id: id, hasLeft: true)
    }

    /// Deletes records outside the filter after the answer to their edits.
    func endStays() throws {
        for entry in try left() {
            guard let resource = entry[0].stringValue,
                try pending(RecordPlace(resource: resource, key: entry[1].key)).isEmpty
            else { continue }
            try noteLeft(resource, id: entry[1], hasLeft: false)
            try lose(resource, entry[1])
        }
    }

    /// Deletes a record that the gateway does not report any more.
    func lose(_ resource: String, _ id: JSONValue, tellsGone: Bool = true) throws {
        let place = RecordPlace(resource: resource, key: id.key)
        let before = try seen(place)
        let was = try view(resource, id)
        try put(resource, id: id, nil, before: was, isPulled: true)
        try rebase(place, before: before, tellsGone: tellsGone, was: tellsGone ? was : nil)
    }
}

package import MergeCore

/// The records that a client already has, by its former filter.
package struct FormerFilter: Sendable {
    /// The id of the former feed, as the client sent it.
    package let feed: String
    /// The client's former filter; nil if it had all records.
    package let filter: RecordFilter?

    /// Describes the records that a client has.
    package init(feed: String, filter: RecordFilter?) {
        self.feed = feed
        self.filter = filter
    }
}

/// The difference between two filters for one resource.
struct FilterChange: Sendable {
    /// The view that reads the records of both filters.
    let both: Viewer
    private let former: ResourceView?
    private let now: ResourceView?

    /// Makes the difference, or returns nil if both filters choose the same records of the resource.
    ///
    /// - Parameter viewer: the client with its new filter; nil without access rules and filter.
    init?(of resource: Resource, from former: FormerFilter, to viewer: Viewer?) {
        let viewer = viewer ?? .anonymous
        let filters = [former.filter, viewer.filters.first]
        let conditions = filters.map { $0?.conditions(on: resource) ?? [] }
        if conditions[0] == conditions[1] { return nil }
        both = viewer.with(filters.contains(nil) ? [] : filters.compactMap(\.self))
        self.former = viewer.with(former.filter.map { [$0] } ?? []).view(of: resource)
        now = viewer.view(of: resource)
    }

    /// What a snapshot reports of a record.
    enum Line: Equatable {
        case sent
        /// The client has it, and it matches the new filter.
        case kept
        /// The client has it, and it does not match the new filter.
        case left
    }

    /// - Parameter record: a record that the client may read and that one of the filters contains.
    func line(of record: ReadRecord) -> Line {
        // Which filter contains an unreadable record is unknown.
        guard record.readable != nil else { return .sent }
        if record.seen(by: now) == nil { return .left }
        return record.seen(by: former) == nil ? .sent : .kept
    }
}

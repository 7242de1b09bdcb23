import MergeCore

/// Decides which pushes of a sync do not run, because they may depend on an earlier push that may succeed later.
package struct HeldPushes: Sendable {
    private var holdsAll = false
    private var resources: Set<String> = []
    private var records: Set<PushNames.Record> = []
    private var temporaryIDs: Set<TemporaryID> = []

    /// Holds no push.
    package init() {}

    /// Returns true if a push does not run.
    package func holds(_ push: PushNames) -> Bool {
        holdsAll || !resources.isDisjoint(with: push.resources) || !records.isDisjoint(with: push.records)
            || !temporaryIDs.isDisjoint(with: push.temporaryIDs)
    }

    /// Holds all later pushes.
    package mutating func holdAll() { holdsAll = true }

    /// Holds the pushes that use temporary ids of a push that the client builds again.
    package mutating func holdIDs(of push: PushNames) { temporaryIDs.formUnion(push.temporaryIDs) }

    /// Holds the pushes that may depend on a push that did not run, or that use a resource out of service.
    package mutating func hold(after push: PushNames, of resources: Set<String>) {
        self.resources.formUnion(resources)
        records.formUnion(push.records)
        temporaryIDs.formUnion(push.temporaryIDs)
    }
}

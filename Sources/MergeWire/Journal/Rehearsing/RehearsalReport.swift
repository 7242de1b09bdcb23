package import MergeCore

/// The comparison of two sets of rules on the entries of a journal.
package struct RehearsalReport: Sendable {
    /// The number of entries.
    package private(set) var entries = 0
    /// The number of outcomes of the entries.
    package private(set) var outcomes = 0
    /// The number of outcomes that both rules decide alike.
    package private(set) var same = 0
    /// The numbers of outcomes that the rules decide differently.
    package private(set) var differences: [Change: Int] = [:]
    /// The numbers of outcomes that cannot be judged.
    package private(set) var unjudged: [Obstacle: Int] = [:]
    /// The most important differences with their entries; filled after the last entry.
    package var examples: [RehearsalExample] = []
    /// The newest places of each kind of difference.
    private var places: [Change: [Place]] = [:]

    /// The highest number of examples.
    package static let mostExamples = 100

    /// A kind of difference.
    package struct Change: Sendable, Hashable {
        /// The name of the resource.
        package let resource: String
        /// The name of the section.
        package let section: String
        /// The name of the group; nil for whole rows.
        package let group: String?
        /// The outcomes of the active rules.
        package let active: [OutcomeKind]
        /// The outcomes of the new rules.
        package let new: [OutcomeKind]
        /// The effect of the difference.
        package let effect: RehearsalDifference.Effect
    }

    /// A reason why outcomes of a resource cannot be judged.
    package struct Obstacle: Sendable, Hashable {
        /// The name of the resource.
        package let resource: String
        /// The reason.
        package let reason: UnjudgedReason
    }

    /// An outcome of an entry.
    package struct Place: Sendable, Hashable {
        /// The number of the entry.
        package let entry: Int
        /// The position among the decided outcomes of the entry.
        package let position: Int

        /// Names an outcome.
        package init(entry: Int, position: Int) {
            self.entry = entry
            self.position = position
        }
    }

    /// The number of outcomes that the rules decide differently.
    package var different: Int { differences.values.reduce(0, +) }

    /// Makes the report of no entry.
    package init() {}

    /// Counts the outcomes of an entry.
    package mutating func add(_ judged: [EntryRehearsal.Judged], of resource: String, entry: Int) {
        entries += 1
        for outcome in judged { add(outcome, of: resource, at: Place(entry: entry, position: outcome.position)) }
    }

    private mutating func add(_ judged: EntryRehearsal.Judged, of resource: String, at place: Place) {
        outcomes += 1
        switch judged.verdict {
        case .same: same += 1
        case .unjudged(let reason): unjudged[Obstacle(resource: resource, reason: reason), default: 0] += 1
        case .different(let difference):
            let change = Change(
                resource: resource, section: judged.section, group: judged.group, active: difference.active.kinds,
                new: difference.new.kinds, effect: difference.effect)
            differences[change, default: 0] += 1
            // Only places are stored, so that long values cost no memory.
            places[change, default: []].append(place)
            if places[change, default: []].count >= 2 * Self.mostExamples {
                places[change]?.removeFirst(Self.mostExamples)
            }
        }
    }

    /// The kinds of differences: those with the most important effects first, and the frequent ones of equal effect.
    package var ordered: [(change: Change, count: Int)] {
        differences.map { (change: $0.key, count: $0.value) }.sorted { a, b in
            if a.change.effect != b.change.effect { return a.change.effect < b.change.effect }
            return a.count == b.count ? a.change.order < b.change.order : a.count > b.count
        }
    }

    /// The reasons, the frequent ones first.
    package var orderedObstacles: [(obstacle: Obstacle, count: Int)] {
        unjudged.map { (obstacle: $0.key, count: $0.value) }.sorted { a, b in
            a.count == b.count ? a.obstacle.order < b.obstacle.order : a.count > b.count
        }
    }

    /// Selects the examples: the newest of each kind in turn.
    package var selectedPlaces: [Place] {
        let newest = ordered.map { Array((places[$0.change] ?? []).reversed()) }
        var selected: [Place] = []
        for turn in 0..<Self.mostExamples {
            for list in newest where list.indices.contains(turn) && selected.count < Self.mostExamples {
                selected.append(list[turn])
            }
        }
        return selected
    }
}

extension RehearsalReport.Change {
    fileprivate var order: String {
        [resource, section, group ?? "", active.map(\.rawValue).joined(), new.map(\.rawValue).joined()]
            .joined(separator: "\n")
    }
}

extension RehearsalReport.Obstacle {
    fileprivate var order: String { resource + "\n" + reason.sentence }
}

/// The former values of a record's condition columns, each with the revision at which it ended.
///
/// They determine the clients that could see the record since a revision.
package struct ConditionHistory: Sendable, Hashable {
    /// Values that ended before the latest ones.
    package struct Former: Sendable, Hashable {
        /// The values, as in `ConditionStep`.
        package let tuple: [UInt8]
        /// The revision of the change that ended them.
        package let until: Int
    }

    /// The former values, newest first; at most `mostFormer`.
    package private(set) var former: [Former] = []
    /// The values after the last change; nil if the record was gone, or nothing is known.
    package private(set) var latest: [UInt8]?
    /// The revision up to which values were omitted; 0 if none were.
    package private(set) var cut = 0

    private static let mostFormer = 12

    /// Begins an empty history.
    package init() {}

    /// Appends the steps up to a revision, in their order.
    package mutating func append(_ steps: [ConditionStep], at revision: Int) {
        guard let last = steps.last else { return }
        var ended: Set<[UInt8]> = []
        if let latest { ended.insert(latest) }
        for step in steps {
            if let before = step.before { ended.insert(before) }
            if let after = step.after { ended.insert(after) }
        }
        if let after = last.after { ended.remove(after) }
        former.removeAll { ended.contains($0.tuple) }
        let now = ended.sorted { $0.lexicographicallyPrecedes($1) }.map { Former(tuple: $0, until: revision) }
        former = now + former
        latest = last.after
        if former.count > Self.mostFormer {
            cut = max(cut, former[Self.mostFormer].until)
            former.removeLast(former.count - Self.mostFormer)
        }
    }

    /// Omits selected former values, and values that ended before them, like values beyond the limit.
    ///
    /// - Returns: false if no value is selected.
    package mutating func leaveOut(where isSelected: ([UInt8]) -> Bool) -> Bool {
        guard let last = former.filter({ isSelected($0.tuple) }).map(\.until).max() else { return false }
        cut = max(cut, last)
        former.removeAll { $0.until <= cut }
        return true
    }

    /// Returns the values that the record had at some time since a revision; nil if some were omitted.
    package func tuples(since revision: Int) -> [[UInt8]]? {
        if cut > revision { return nil }
        return former.filter { $0.until > revision }.map(\.tuple) + (latest.map { [$0] } ?? [])
    }

    /// Returns the values that ended at a revision; nil if some were omitted.
    package func tuples(endedAt revision: Int) -> [[UInt8]]? {
        if cut == revision { return nil }
        return former.filter { $0.until == revision }.map(\.tuple)
    }

    /// Returns true if the record certainly had all these values since a revision, and has the last of them now.
    package func covers(_ tuples: [[UInt8]], since revision: Int) -> Bool {
        guard latest == tuples.last, let known = self.tuples(since: revision) else { return false }
        return tuples.allSatisfy { known.contains($0) }
    }

    /// The revisions at which stored values ended, and the last revision at which an omitted value ended.
    package var departures: Set<Int> { Set(former.map(\.until)).union(cut > 0 ? [cut] : []) }

    // MARK: Bytes

    /// The form in which a row of `changes` stores it.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        LEB128.append(cut, to: &out)
        LEB128.append(latest, to: &out)
        for entry in former {
            LEB128.append(entry.until, to: &out)
            LEB128.append(entry.tuple, to: &out)
        }
        return out
    }

    /// Decodes `bytes`; nil if they are damaged.
    package init?(bytes: [UInt8]) {
        var reader = LEB128.Reader(rest: bytes[...])
        guard let cut = reader.number(), let latest = reader.optionalBytes() else { return nil }
        self.cut = cut
        self.latest = latest
        while !reader.rest.isEmpty {
            guard let until = reader.number(), let tuple = reader.optionalBytes(), let tuple else { return nil }
            former.append(Former(tuple: tuple, until: until))
        }
    }
}

import MergeCore
import Synchronization

/// Bounds the bytes that requests and answers hold at once, over all connections.
///
/// A quarter more than the limit is there for small requests alone, so that whoever holds large ones locks nobody out.
final class ByteBudget: Sendable {
    private let limit: Int
    private let large = Atomic<Int>(0)
    private let small = Atomic<Int>(0)
    /// The length up to which a request is small; an answer that is no longer does not count.
    static let small = 65_536

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Bytes that are held at the moment.
    var held: Int { large.load(ordering: .relaxed) + small.load(ordering: .relaxed) }

    /// Takes bytes of what there is for small requests; returns false, and takes none, where there is no room.
    fileprivate func takeSmall(_ count: Int) -> Bool {
        if small.wrappingAdd(count, ordering: .relaxed).newValue <= limit / 4 { return true }
        small.wrappingSubtract(count, ordering: .relaxed)
        return false
    }

    /// Takes bytes of what there is for all; one alone finds room however large it is.
    ///
    /// - Parameter own: the bytes held already that do not count as those of others.
    fileprivate func takeLarge(_ count: Int, own: Int) -> Bool {
        let sum = large.wrappingAdd(count, ordering: .relaxed).newValue
        if sum <= limit || sum == own + count { return true }
        large.wrappingSubtract(count, ordering: .relaxed)
        return false
    }

    /// Takes bytes that are there already, room or not: then nobody else gets any for what is large.
    fileprivate func force(_ count: Int) { large.wrappingAdd(count, ordering: .relaxed) }

    fileprivate func give(large count: Int, small: Int) {
        large.wrappingSubtract(count, ordering: .relaxed)
        self.small.wrappingSubtract(small, ordering: .relaxed)
    }

    /// The answer to who would hold more than there is room for.
    static let overloaded = Problem(
        .overloaded, about: .memory,
        detail: "Other requests and answers take all the memory there is for them; nothing was written.",
        retry: .later(.overload, after: 1))
}

/// The bytes that one request holds, which go back with the last reference to it.
final class ByteLease: Sendable {
    private struct Held {
        var large = 0
        var small = 0

        var sum: Int { large + small }
    }

    private let budget: ByteBudget
    private let held = Mutex(Held())

    init(_ budget: ByteBudget) {
        self.budget = budget
    }

    deinit {
        held.withLock { budget.give(large: $0.large, small: $0.small) }
    }

    /// Takes bytes more; returns false where there is no room for them.
    func take(_ count: Int) -> Bool {
        held.withLock { take(count, own: 0, &$0) }
    }

    /// Takes bytes more, also where there is not so much room at all as long as nobody else holds any.
    func grow(by count: Int) -> Bool {
        held.withLock { take(count, own: $0.large, &$0) }
    }

    private func take(_ count: Int, own: Int, _ held: inout Held) -> Bool {
        if held.sum + count <= ByteBudget.small, budget.takeSmall(count) {
            held.small += count
            return true
        }
        guard budget.takeLarge(count, own: own) else { return false }
        held.large += count
        return true
    }

    /// Takes bytes that are there already.
    func force(_ count: Int) {
        held.withLock { force(count, &$0) }
    }

    private func force(_ count: Int, _ held: inout Held) {
        budget.force(count)
        held.large += count
    }

    /// Gives back bytes that were taken.
    func give(_ count: Int) {
        held.withLock { give(count, &$0) }
    }

    /// Each kind of room gets its own back, or a stream that lasts would use up what there is for small requests.
    private func give(_ count: Int, _ held: inout Held) {
        let large = min(count, max(0, held.large))
        let small = min(count - large, held.small)
        budget.give(large: large, small: small)
        held.large -= large
        held.small -= small
    }

    /// Holds so many bytes in all, of what is there already.
    func settle(at count: Int) {
        held.withLock { held in
            let more = count - held.sum
            if more > 0 { force(more, &held) } else { give(-more, &held) }
        }
    }

    /// Holds so many bytes in all; returns false, and changes nothing, where there is no room for more than it holds.
    func resize(to count: Int) -> Bool {
        held.withLock { held in
            let more = count - held.sum
            if more > 0 { return take(more, own: held.large, &held) }
            give(-more, &held)
            return true
        }
    }
}

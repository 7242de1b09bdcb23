import MergeCore
import Synchronization

/// Limits the memory of requests and answers on all connections.
///
/// Small requests have an additional quarter of the limit, so that large requests cannot block them.
final class ByteBudget: Sendable {
    private let limit: Int
    private let large = Atomic<Int>(0)
    private let small = Atomic<Int>(0)
    /// The maximum bytes of a small request.
    ///
    /// Answers up to this length are not counted.
    static let small = 65_536

    init(_ limit: Int) {
        self.limit = limit
    }

    var held: Int { large.load(ordering: .relaxed) + small.load(ordering: .relaxed) }

    /// Acquires bytes for a small request, or returns false.
    fileprivate func takeSmall(_ count: Int) -> Bool {
        if small.wrappingAdd(count, ordering: .relaxed).newValue <= limit / 4 { return true }
        small.wrappingSubtract(count, ordering: .relaxed)
        return false
    }

    /// Acquires bytes for a large request, or returns false.
    ///
    /// A request that is alone gets any amount.
    ///
    /// - Parameter own: the bytes that the caller already has.
    fileprivate func takeLarge(_ count: Int, own: Int) -> Bool {
        let sum = large.wrappingAdd(count, ordering: .relaxed).newValue
        if sum <= limit || sum == own + count { return true }
        large.wrappingSubtract(count, ordering: .relaxed)
        return false
    }

    /// Adds bytes that are already in memory, even beyond the limit.
    fileprivate func force(_ count: Int) { large.wrappingAdd(count, ordering: .relaxed) }

    fileprivate func give(large count: Int, small: Int) {
        large.wrappingSubtract(count, ordering: .relaxed)
        self.small.wrappingSubtract(small, ordering: .relaxed)
    }

    /// The answer if the memory is used up.
    static let overloaded = Problem(
        .overloaded, about: .memory,
        detail: "Other requests use all memory for requests and answers. Nothing was written.",
        retry: .later(.overload, after: 1))
}

/// The bytes of a request, released by the deinitializer.
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

    /// Acquires more bytes, or returns false.
    func take(_ count: Int) -> Bool {
        held.withLock { take(count, own: 0, &$0) }
    }

    /// Acquires more bytes, even beyond the limit if no other request has any; or returns false.
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

    /// Adds bytes that are already in memory.
    func force(_ count: Int) {
        held.withLock { force(count, &$0) }
    }

    private func force(_ count: Int, _ held: inout Held) {
        budget.force(count)
        held.large += count
    }

    func give(_ count: Int) {
        held.withLock { give(count, &$0) }
    }

    /// Releases each share separately, so that a long stream does not use up the share of small requests.
    private func give(_ count: Int, _ held: inout Held) {
        let large = min(count, max(0, held.large))
        let small = min(count - large, held.small)
        budget.give(large: large, small: small)
        held.large -= large
        held.small -= small
    }

    /// Sets the size of the lease, for bytes already in memory.
    func settle(at count: Int) {
        held.withLock { held in
            let more = count - held.sum
            if more > 0 { force(more, &held) } else { give(-more, &held) }
        }
    }

    /// Sets the size of the lease; returns false and changes nothing if the budget is used up.
    func resize(to count: Int) -> Bool {
        held.withLock { held in
            let more = count - held.sum
            if more > 0 { return take(more, own: held.large, &held) }
            give(-more, &held)
            return true
        }
    }
}

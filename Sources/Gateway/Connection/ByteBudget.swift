import MergeCore
import Synchronization

/// Bounds the bytes that requests and answers hold at once, over all connections.
final class ByteBudget: Sendable {
    private let limit: Int
    private let used = Atomic<Int>(0)
    /// The length up to which a request is small, and finds room that large ones do not get.
    private static let small = 65_536

    init(_ limit: Int) {
        self.limit = limit
    }

    /// Bytes that are held at the moment.
    var held: Int { used.load(ordering: .relaxed) }

    /// Takes bytes where there is room for them; returns false, and takes none, where there is not.
    ///
    /// A quarter more than the limit is there for small requests alone, so that whoever holds large ones locks nobody out.
    ///
    /// - Parameter total: what the request holds with them.
    fileprivate func take(_ count: Int, total: Int) -> Bool {
        let room = total <= Self.small ? limit + limit / 4 : limit
        if used.wrappingAdd(count, ordering: .relaxed).newValue <= room { return true }
        give(count)
        return false
    }

    /// Takes bytes that are there already, room or not: then nobody else gets any.
    fileprivate func force(_ count: Int) { used.wrappingAdd(count, ordering: .relaxed) }

    fileprivate func give(_ count: Int) { used.wrappingSubtract(count, ordering: .relaxed) }

    /// The answer to who would hold more than there is room for.
    static let overloaded = Problem(
        .overloaded, about: .memory,
        detail: "Other requests and answers take all the memory there is for them; nothing was written.", retry: true,
        retryAfter: 1)
}

/// The bytes that one request holds, which go back with the last reference to it.
final class ByteLease: Sendable {
    private let budget: ByteBudget
    private let held = Atomic<Int>(0)

    init(_ budget: ByteBudget) {
        self.budget = budget
    }

    deinit { budget.give(held.load(ordering: .relaxed)) }

    /// Takes bytes more; returns false where there is no room for them.
    func take(_ count: Int) -> Bool {
        guard budget.take(count, total: held.load(ordering: .relaxed) + count) else { return false }
        held.wrappingAdd(count, ordering: .relaxed)
        return true
    }

    /// Takes bytes that are there already.
    func force(_ count: Int) {
        budget.force(count)
        held.wrappingAdd(count, ordering: .relaxed)
    }
}

import Synchronization

/// A number that many tasks count up.
package final class Counter: Sendable {
    private let count = Mutex(0)

    package init() {}

    package var value: Int { count.withLock { $0 } }

    package func increase() { count.withLock { $0 += 1 } }
}

/// An event that one thread signals to another.
package final class Flag: Sendable {
    private let raised = Mutex(false)

    package init() {}

    package var isRaised: Bool { raised.withLock { $0 } }

    package func raise() { raised.withLock { $0 = true } }
}

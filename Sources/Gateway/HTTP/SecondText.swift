import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A text of the current time, formatted once a second.
package final class SecondText: Sendable {
    private let known = Mutex((second: Int.min, text: ""))
    private let make: @Sendable (_ second: Int) -> String

    /// - Parameter make: formats a second since 1970.
    package init(_ make: @escaping @Sendable (_ second: Int) -> String) {
        self.make = make
    }

    /// The text of the current second.
    package var now: String {
        let second = time(nil)
        return known.withLock { known in
            if known.second != second { known = (second, make(second)) }
            return known.text
        }
    }
}

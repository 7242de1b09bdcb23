/// A value of a TIME column: a signed span of up to 838:59:59, to the microsecond.
package struct TimeSpan: Sendable, Hashable, Comparable {
    /// The signed length in microseconds.
    package let microseconds: Int64

    /// 838:59:59.999999, the longest span with a fraction.
    package static let limit: Int64 = (838 * 3_600 + 59 * 60 + 59) * 1_000_000 + 999_999

    /// Creates a span, or returns nil beyond the limit.
    package init?(microseconds: Int64) {
        guard microseconds.magnitude <= UInt64(Self.limit) else { return nil }
        self.microseconds = microseconds
    }

    /// True below zero.
    package var isNegative: Bool { microseconds < 0 }
    /// The hours, 0 to 838, without the sign.
    package var hours: Int { Int(microseconds.magnitude / 3_600_000_000) }
    /// The minute, 0 to 59.
    package var minute: Int { Int(microseconds.magnitude / 60_000_000 % 60) }
    /// The second, 0 to 59.
    package var second: Int { Int(microseconds.magnitude / 1_000_000 % 60) }
    /// The microseconds of the second, 0 to 999,999.
    package var microsecond: Int { Int(microseconds.magnitude % 1_000_000) }

    package static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }
}

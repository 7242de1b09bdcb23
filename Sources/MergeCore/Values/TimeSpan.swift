/// A value of a TIME column: a signed span of up to 838:59:59, to the microsecond.
package struct TimeSpan: Sendable, Hashable, Comparable {
    /// Signed length in microseconds.
    package let microseconds: Int64

    /// 838:59:59.999999, the widest span that any fraction allows.
    package static let limit: Int64 = (838 * 3_600 + 59 * 60 + 59) * 1_000_000 + 999_999

    /// nil beyond 838:59:59 (with a fraction) on either side.
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
    /// The part of a second, 0 to 999,999 microseconds.
    package var microsecond: Int { Int(microseconds.magnitude % 1_000_000) }

    package static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.microseconds < b.microseconds }
}

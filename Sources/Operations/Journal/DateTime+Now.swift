package import MergeCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension DateTime {
    /// The machine's time in UTC; nil outside the years 0 to 9999.
    package static var now: DateTime? {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return DateTime(secondsSince1970: Int(time.tv_sec), microsecond: Int(time.tv_nsec) / 1_000)
    }
}

import FoundationEssentials
import MergeService

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension Stopwatch {
    static var now: Stopwatch {
        var time = timespec()
        #if canImport(Glibc)
            clock_gettime(CLOCK_BOOTTIME, &time)
        #else
            clock_gettime(CLOCK_MONOTONIC_RAW, &time)
        #endif
        return Stopwatch(boot: boot, seconds: Int(time.tv_sec))
    }

    /// The id of the machine's boot; if the system has none, each start of a gateway counts as a boot.
    private static let boot: String = {
        let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        let name = text?.split(whereSeparator: \.isNewline).first.map(String.init)
        return name ?? String(UInt64.random(in: .min ... .max), radix: 16)
    }()
}

import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files and connections that the process may open.
struct OpenFiles {
    /// The limit of the system.
    let limit: Int
    /// The number of open files.
    let open: Int

    /// Files for everything but clients and the database: refused connections, rules, tokens, and timers of the
    /// system's libraries.
    private var reserve: Int { 40 + 3 * ProcessInfo.processInfo.activeProcessorCount }

    /// Raises the limit as far as the system permits.
    static func raised() -> OpenFiles {
        var limit = rlimit()
        guard getrlimit(Self.kind, &limit) == 0 else { return OpenFiles(limit: 1_024, open: count) }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // If the system refuses, the limit is unchanged.
        let now = setrlimit(Self.kind, &limit) == 0 ? limit.rlim_max : before
        return OpenFiles(limit: Int(clamping: now), open: count)
    }

    #if canImport(Glibc)
        private static var kind: Int32 { Int32(RLIMIT_NOFILE.rawValue) }
    #else
        private static var kind: Int32 { RLIMIT_NOFILE }
    #endif

    private static var count: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count) ?? 32
    }

    /// Returns the number of clients that the limit permits.
    ///
    /// - Parameters:
    ///   - wanted: the highest number of clients.
    ///   - database: files that the database may still need.
    /// - Throws: `SettingsError` if there is room for none.
    func clients(atMost wanted: Int, beside database: Int) throws -> Int {
        let needed = open + database + reserve
        guard limit > needed else {
            throw SettingsError(
                "the process may have \(limit) files open, and needs \(needed) and one for each client; raise the limit "
                    + "(ulimit -n), or lower --connections")
        }
        return min(wanted, limit - needed)
    }
}

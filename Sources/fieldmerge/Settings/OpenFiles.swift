import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The files, connections among them, that the process may have open at once.
struct OpenFiles {
    /// The limit that the system sets.
    let limit: Int
    /// Those that are open at the moment.
    let open: Int

    /// Files for everything but clients and the database: connections that are about to be refused, rules, tokens, and
    /// what the system's libraries need for waiting.
    private var reserve: Int { 40 + 3 * ProcessInfo.processInfo.activeProcessorCount }

    /// Takes as many as the system allows.
    static func raised() -> OpenFiles {
        var limit = rlimit()
        guard getrlimit(Self.kind, &limit) == 0 else { return OpenFiles(limit: 1_024, open: count) }
        let before = limit.rlim_cur
        limit.rlim_cur = limit.rlim_max
        // Where the system takes back what it allows, the limit is what it was.
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

    /// Returns how many clients there is room for beside the database.
    ///
    /// - Parameters:
    ///   - wanted: how many there may be at most.
    ///   - database: files that the database may yet need.
    /// - Throws: `SettingsError` where there is none.
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

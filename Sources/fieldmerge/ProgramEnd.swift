#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum ProgramEnd {
    /// Flushes buffers, and ends the process without exit handlers.
    ///
    /// `exit` runs the handlers of the C libraries while threads of database connections and libdispatch still end.
    /// OpenSSL's handler frees memory that such a thread frees too, which crashed about one of a thousand short
    /// commands.
    static func leave(with status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}

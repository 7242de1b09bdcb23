#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The end of the process.
enum ProgramEnd {
    /// Writes what is still buffered, and ends the process without exit handlers.
    ///
    /// `exit` runs the handlers of the C libraries while other threads still end: those of database connections, and
    /// those of libdispatch. OpenSSL's handler frees memory that such a thread frees too, which crashed about one of a
    /// thousand short commands.
    static func leave(with status: Int32) -> Never {
        fflush(nil)
        _exit(status)
    }
}

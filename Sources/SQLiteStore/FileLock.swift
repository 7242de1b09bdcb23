import RecordStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A lock on a SQLite file for one gateway, held until the object or the process ends.
///
/// The kernel releases it, so a killed process leaves no lock. The lock is on a file beside the database: closing the
/// database file itself would release the locks of SQLite.
final class FileLock: Sendable {
    private let descriptor: Int32

    /// The ending of the lock file's name.
    static let ending = ".fieldmerge-lock"

    /// - Parameter path: the SQLite file, which has to exist.
    /// - Throws: `StoreError`; of the kind `busy` if another gateway has the lock.
    init(_ path: String) throws(StoreError) {
        // Two paths to one file need the same lock file.
        guard let resolved = realpath(path, nil) else { throw Self.fault(path) }
        defer { free(resolved) }
        let file = String(cString: resolved) + Self.ending
        var status = stat()
        // Programs that may not use the database may not keep its lock either.
        let mode = stat(resolved, &status) == 0 ? status.st_mode & 0o666 : 0o600
        let opened = open(file, O_RDWR | O_CREAT | O_CLOEXEC, mode)
        guard opened >= 0 else { throw Self.fault(file) }
        guard flock(opened, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let fault = Self.fault(file)
            close(opened)
            throw isHeld
                ? StoreError(
                    .busy,
                    "another gateway serves “\(String(cString: resolved))”; this one takes over once that one has stopped"
                )
                : fault
        }
        descriptor = opened
    }

    private static func fault(_ file: String) -> StoreError {
        StoreError(.unwritable, "the file “\(file)” cannot be locked: \(String(cString: strerror(errno)))")
    }

    deinit { close(descriptor) }
}

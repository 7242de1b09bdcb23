import RecordStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A lock on a SQLite file for one gateway, until the object is freed or the process ends.
///
/// The kernel releases it after a crash. It is on a separate file, because closing the database file would release
/// SQLite's own locks.
final class FileLock: Sendable {
    private let descriptor: Int32

    static let ending = ".fieldmerge-lock"

    /// - Parameter path: the existing SQLite file.
    /// - Throws: `StoreError`; of the kind `busy` if another gateway has the lock.
    init(_ path: String) throws(StoreError) {
        // Two paths to one file need the same lock file.
        guard let resolved = realpath(path, nil) else { throw Self.fault(path) }
        defer { free(resolved) }
        let file = String(cString: resolved) + Self.ending
        var status = stat()
        // Programs without rights on the database get no rights on its lock file.
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

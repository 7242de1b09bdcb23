#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The folder whose files are served under `/app/`.
///
/// Each name of a path is opened from its parent folder without following links, so files outside the folder are
/// unreachable. The folder itself may be a link that changes: it is opened again for each file.
package struct AppFolder: Sendable {
    /// The path that the operator configured.
    package let path: String

    /// Checks that the folder contains `index.html`.
    package init(_ path: String) throws(AppFolderError) {
        self.path = path
        guard let page = AppPath([]), try file(at: page) != nil else {
            throw AppFolderError("“\(path)” has no index.html")
        }
    }

    /// Opens a file, which may block; nil if it does not exist.
    func file(at place: AppPath) throws(AppFolderError) -> AppFile? {
        var folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw AppFolderError("“\(path)” is not a readable folder (error \(errno))") }
        defer { close(folder) }
        for name in place.names.dropLast() {
            let next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { return try Self.missing() }
            close(folder)
            folder = next
        }
        // Opening a named pipe must not block.
        let file = openat(folder, place.names.last ?? "", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return try Self.missing() }
        return AppFile(descriptor: file)
    }

    private static func missing() throws(AppFolderError) -> AppFile? {
        guard [ENOENT, ENOTDIR, ELOOP, ENXIO, ENAMETOOLONG].contains(errno) else {
            throw AppFolderError("a file of the app cannot be opened (error \(errno))")
        }
        return nil
    }
}

/// The reason for which the app cannot be served.
package struct AppFolderError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The folder whose files are served under `/app/`.
///
/// A file is opened name by name from the folder down, and no name may be a symbolic link. So whatever somebody puts into
/// the folder, and whenever, nothing outside of it is read. The folder itself may be a link, and may come to point
/// elsewhere: it is opened anew for each file.
package struct AppFolder: Sendable {
    /// The folder as the operator names it.
    package let path: String

    /// Makes a folder that is there and has a page to begin with.
    ///
    /// - Throws: `AppFolderError` for any other, such as one that was named by mistake.
    package init(_ path: String) throws(AppFolderError) {
        self.path = path
        guard let page = AppPath([]), try file(at: page) != nil else {
            throw AppFolderError("“\(path)” has no index.html")
        }
    }

    /// Opens a file, which may block; nil where there is none.
    ///
    /// - Throws: `AppFolderError` where the system cannot say.
    func file(at place: AppPath) throws(AppFolderError) -> AppFile? {
        var folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw AppFolderError("“\(path)” is no folder that can be read (error \(errno))") }
        defer { close(folder) }
        for name in place.names.dropLast() {
            let next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { return try Self.missing() }
            close(folder)
            folder = next
        }
        // A named pipe would be waited for.
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

/// The reason for which a folder cannot be served.
package struct AppFolderError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

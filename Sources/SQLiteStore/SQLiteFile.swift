#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Files of SQLite by their paths.
enum SQLiteFile {
    /// A path that SQLite takes as one: `file:` and `:memory:` at its start mean something else to it.
    static func plain(_ path: String) -> String {
        path.utf8.starts(with: "file:".utf8) || path.utf8.first == UInt8(ascii: ":") ? "./" + path : path
    }

    /// Makes an empty file that its owner alone may read, since a journal holds what clients sent; one that is there
    /// stays as it is.
    ///
    /// What goes wrong is told by whoever opens the file.
    static func make(_ path: String) {
        // One that is there is never opened here: to close it would take SQLite's locks away.
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
    }
}

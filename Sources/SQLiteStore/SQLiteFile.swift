import MergeCore
import RecordStore

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

    /// Opens files, again for a while where another program holds one.
    ///
    /// - Throws: `StoreError`.
    static func waiting<Answer>(_ seconds: Double, _ open: () throws -> Answer) throws(StoreError) -> Answer {
        let deadline = ContinuousClock.now.advanced(by: .clamped(seconds: seconds))
        while true {
            do {
                return try open()
            } catch {
                let error = SQLiteError.storeError(error)
                guard error.kind == .fileLocked, ContinuousClock.now < deadline else { throw error }
                usleep(UInt32.random(in: 1_000...20_000))
            }
        }
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

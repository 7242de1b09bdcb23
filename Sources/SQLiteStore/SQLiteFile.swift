import MergeCore
import RecordStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

enum SQLiteFile {
    /// Returns a path without a special meaning for SQLite, as `file:` and `:memory:` have.
    static func plain(_ path: String) -> String {
        path.utf8.starts(with: "file:".utf8) || path.utf8.first == UInt8(ascii: ":") ? "./" + path : path
    }

    /// Opens files, and retries for some time while another program has locked one.
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

    /// Creates an empty file that only its owner may read, because a journal contains client data.
    ///
    /// An existing file stays unchanged. The later opening of the file reports errors.
    static func make(_ path: String) {
        // An existing file must not be opened here: closing it would release SQLite's locks.
        let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file >= 0 { close(file) }
    }
}

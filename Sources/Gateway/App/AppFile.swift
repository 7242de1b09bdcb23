#if canImport(Glibc)
    // Any of these modules may declare `stat`, depending on which the compiler reads first.
    import CDispatch
    import CoreFoundation
    import Glibc
#else
    import Darwin
#endif

final class AppFile: Sendable {
    /// The length that is served, even if the file grows.
    let size: Int
    /// The entity tag (RFC 9110 section 8.8.3).
    let tag: String
    private let descriptor: CInt

    /// Takes ownership of a descriptor; nil unless it is a regular file.
    init?(descriptor: CInt) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        size = Int(facts.st_size)
        #if canImport(Glibc)
            let (written, changed) = (facts.st_mtim, facts.st_ctim)
        #else
            let (written, changed) = (facts.st_mtimespec, facts.st_ctimespec)
        #endif
        // A hash hides the inode number.
        let state =
            "\(facts.st_dev) \(facts.st_ino) \(facts.st_size) \(written.tv_sec) \(written.tv_nsec) "
            + "\(changed.tv_sec) \(changed.tv_nsec)"
        tag = EntityTag.of(Array(state.utf8))
    }

    deinit { close(descriptor) }

    /// Reads a part of the file, which may block.
    ///
    /// - Throws: `AppFolderError` if the file is unreadable or shorter than before.
    func read(at offset: Int, count: Int) throws(AppFolderError) -> [UInt8] {
        let wanted = min(count, size - offset)
        var got = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            got = pread(descriptor, buffer.baseAddress, wanted, off_t(offset))
            filled = max(got, 0)
        }
        guard got > 0 else { throw AppFolderError("a file of the app cannot be read, or has become shorter") }
        return bytes
    }
}

#if canImport(Glibc)
    // Any of the three declares `stat`, depending on which the compiler has read first.
    import CDispatch
    import CoreFoundation
    import Glibc
#else
    import Darwin
#endif

/// An open file of the app; closed when nobody has it any more.
final class AppFile: Sendable {
    /// The length that is served, be the file longer by now.
    let size: Int
    /// Names this state of the file (RFC 9110 section 8.8.3).
    let tag: String
    private let descriptor: CInt

    /// Takes an open file and closes it in the end; nil for what is no file, such as a folder or a pipe.
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
        // Hashed, since the number of a file is nobody's business.
        let state =
            "\(facts.st_dev) \(facts.st_ino) \(facts.st_size) \(written.tv_sec) \(written.tv_nsec) "
            + "\(changed.tv_sec) \(changed.tv_nsec)"
        tag = EntityTag.of(Array(state.utf8))
    }

    deinit { close(descriptor) }

    /// Reads some bytes, which may block.
    ///
    /// - Throws: `AppFolderError` where the file has become shorter, or cannot be read.
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

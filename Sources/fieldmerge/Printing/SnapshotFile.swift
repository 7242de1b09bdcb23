import FoundationEssentials
import RecordStore
import SystemPackage

/// The file of a snapshot, written under a separate name until it is complete.
protocol SnapshotTarget: AnyObject {
    func write(_ bytes: [UInt8], records: Int) throws
    /// Replaces the former file with the complete one.
    func finish() throws
    /// Removes the incomplete file.
    func drop()
}

/// A snapshot as lines of JSON.
final class SnapshotFile: SnapshotTarget {
    private let path: String
    private let file: FileDescriptor
    private let isPacked: Bool
    private var progress = SnapshotProgress()
    /// Lines that are packed together.
    private var waiting: [UInt8] = []
    private static let member = 1 << 20

    /// - Throws: an error if the file cannot be created.
    init(path: String) throws {
        self.path = path
        isPacked = path.hasSuffix(".gz")
        file = try .open(
            FilePath(path + ".part"), .writeOnly, options: [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
    }

    func write(_ bytes: [UInt8], records: Int) throws {
        waiting += bytes
        try progress.add(bytes, records: records)
        if waiting.count >= Self.member { try flush() }
    }

    /// A gzip file may consist of several members, one after the other (RFC 1952, section 2.2).
    private func flush() throws {
        if waiting.isEmpty { return }
        if isPacked {
            guard let packed = PackedBytes.gzip(waiting) else { throw SettingsError("there is no memory to pack with") }
            try file.writeAll(packed)
        } else {
            try file.writeAll(waiting)
        }
        waiting = []
    }

    func finish() throws {
        try flush()
        try file.close()
        try FileManager.default.replaceItem(at: path + ".part", with: path)
        try progress.finish()
    }

    func drop() {
        try? file.close()
        try? FileManager.default.removeItem(atPath: path + ".part")
    }
}

extension FileManager {
    /// Moves a file to a path, and replaces an existing file.
    func replaceItem(at part: String, with path: String) throws {
        if fileExists(atPath: path) { try removeItem(atPath: path) }
        try moveItem(atPath: part, toPath: path)
    }
}

import FieldMergeClient
import Foundation

/// The table and the cases that all client libraries share.
enum SharedCases {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Cases")

    static func read(_ name: String) -> JSONValue {
        let text = try? String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        return text.flatMap { JSONValue(text: $0) } ?? .null
    }

    static let model = read("model.json")
    static let keep: JSONValue = {
        var told = read("keep.json")
        told["rules"] = model["rules"]
        return told
    }()
    static let queries = read("queries.json")
    static let scheduler = read("scheduler.json")

    /// Seeds of random tests.
    ///
    /// FIELDMERGE_SEEDS changes their number.
    static func seeds(_ ordinary: Int) -> Range<Int> {
        let environment = ProcessInfo.processInfo.environment
        let first = environment["FIELDMERGE_FIRST_SEED"].flatMap { Int($0) } ?? 0
        return first..<first + (environment["FIELDMERGE_SEEDS"].flatMap { Int($0) } ?? ordinary)
    }
}

/// A folder that is deleted with its contents.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("fieldmerge-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appendingPathComponent(name) }
}

/// The end of a process.
struct Killed: Error {}

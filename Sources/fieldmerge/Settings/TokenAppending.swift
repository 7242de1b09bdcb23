import FoundationEssentials
import SystemPackage

struct TokenAppending {
    let path: String

    /// Appends a line, after a line break if the file does not end with one.
    ///
    /// - Throws: `SettingsError` if the name exists, because the journal could not distinguish the tokens; or if the
    ///   file cannot be read or written.
    func append(_ line: String, named name: String) throws {
        let before = try held()
        let names = before.split(separator: "\n").compactMap { $0.split(whereSeparator: \.isWhitespace).first }
        guard !names.contains(Substring(name)) else {
            throw SettingsError(
                "\(path): a token “\(name)” exists already; remove its line, or choose another name")
        }
        let start = before.isEmpty || before.hasSuffix("\n") ? "" : "\n"
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .writeOnly, options: [.append, .create], permissions: [.ownerReadWrite])
            try file.closeAfter { _ = try file.writeAll(Array((start + line + "\n").utf8)) }
        } catch {
            throw SettingsError("\(path): the tokens file cannot be written: \(error)")
        }
    }

    private func held() throws -> String {
        guard FileManager.default.fileExists(atPath: path) else { return "" }
        guard let data = try? Data(contentsOf: URL(filePath: path)), let text = String(validating: data, as: UTF8.self)
        else { throw SettingsError("\(path): the tokens file cannot be read") }
        return text
    }
}

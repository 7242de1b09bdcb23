import MergeWire

/// The place of a file below the app's folder, as an address names it.
struct AppPath {
    /// Names of folders, and of the file last: none of them is empty, hidden or leads anywhere but down.
    let names: [String]

    private static let mostNames = 16
    private static let longestName = 255

    /// Reads the part of an address behind `/app/`; nil where it can be no file.
    ///
    /// Names are decoded once and only then looked at, so that no spelling of a dot or a slash passes.
    init?(_ text: some Collection<UInt8>) {
        guard !text.isEmpty else {
            names = ["index.html"]
            return
        }
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count <= Self.mostNames else { return nil }
        var names: [String] = []
        for part in parts {
            guard let name = KeyText.percentDecoded(part), Self.isPlain(name) else { return nil }
            names.append(name)
        }
        self.names = names
    }

    private static func isPlain(_ name: String) -> Bool {
        let bytes = name.utf8
        guard let first = bytes.first, first != UInt8(ascii: "."), bytes.count <= longestName else { return false }
        return bytes.allSatisfy { $0 >= 32 && $0 != 127 && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }
}

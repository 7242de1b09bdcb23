import MergeWire

/// The path of a file in the app's folder.
struct AppPath {
    /// The folders and the file, without empty, hidden and parent names.
    let names: [String]

    private static let mostNames = 16
    private static let longestName = 255

    /// Reads the part of an address after `/app/`; nil if no file can have this path.
    ///
    /// Names are decoded before the check, so that no encoded dot or slash passes.
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

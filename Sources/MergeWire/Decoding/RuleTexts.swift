import MergeCore

/// Rule files in the body of a request.
package struct RuleTexts: Sendable {
    /// The texts by the names of the files, in the order of the names.
    package let files: [(name: String, text: String)]

    private static let mostFiles = 200
    private static let mostBytes = 1 << 20

    /// - Throws: a 400 or 413 `Problem` if the files are invalid.
    init(_ node: JSONNode, at path: WirePath) throws(Problem) {
        guard node.isObject else {
            throw Invalid.problem(path, "must be an object with the texts of rule files by their names")
        }
        guard (1...Self.mostFiles).contains(node.count) else {
            throw Invalid.problem(path, "must have 1 to \(Self.mostFiles) rule files")
        }
        var files: [(name: String, text: String)] = []
        for (name, value) in node.members {
            guard Self.isFileName(name.string), let text = value.string else {
                throw Invalid.problem(
                    path, "has names such as shoppers.yaml, without folders, and the texts of the files")
            }
            files.append((name: name.string, text: text))
        }
        guard files.reduce(0, { $0 + $1.text.utf8.count }) <= Self.mostBytes else {
            throw Problem(.tooLarge, detail: "Rule files may have \(Self.mostBytes) bytes together.", path: path)
        }
        self.files = files.sorted { $0.name < $1.name }
    }

    private static func isFileName(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy { byte in byte > 32 && byte != 127 && byte != UInt8(ascii: "/") }
        return name.hasSuffix(".yaml") && !name.hasPrefix(".") && name.utf8.count <= 255 && isPlain
    }
}

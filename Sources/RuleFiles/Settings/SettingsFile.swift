internal import FoundationEssentials
internal import MergeCore
internal import Yams

/// A settings file: one mapping of names to values, in YAML or JSON.
package struct SettingsFile: Sendable {
    /// The values of each name in the file; several only where the name takes a list.
    package private(set) var values: [String: [String]] = [:]
    /// The findings of reading the file.
    package private(set) var findings = Findings()

    /// Reads a file, with a finding for everything in it that would otherwise be passed over.
    ///
    /// - Parameters:
    ///   - names: every name that may stand in the file.
    ///   - lists: those of them that take a list.
    package init(path: String, names: [String], lists: Set<String>) {
        let start = Place(file: path, line: 1, column: 1)
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            findings.error(start, "the settings file cannot be read")
            return
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            findings.error(start, "the file is not UTF-8")
            return
        }
        guard let root = YAMLSource.root(of: text, file: path, &findings),
            let mapping = YAMLMapping(root, file: path, what: "a settings file", &findings)
        else { return }
        for (name, node) in mapping.entries {
            guard names.contains(name.value) else {
                findings.error(name.place, "“\(name.value)” is no setting\(nearest(name.value, names))")
                continue
            }
            values[name.value] = read(node, name, takesList: lists.contains(name.value))
        }
    }

    private mutating func read(_ node: Node, _ name: Placed<String>, takesList: Bool) -> [String] {
        let place = node.place(in: name.place.file)
        if let scalar = node.scalar { return value(scalar, of: name, at: place).map { [$0] } ?? [] }
        guard let sequence = node.sequence, takesList else {
            findings.error(
                place,
                "“\(name.value)” takes one value\(takesList ? ", or a list of them" : ""), not a "
                    + (node.sequence == nil ? "mapping" : "list"))
            return []
        }
        if sequence.isEmpty { findings.error(place, "“\(name.value)” lists nothing; give it a value, or take it out") }
        return sequence.compactMap { element in
            let place = element.place(in: name.place.file)
            guard let scalar = element.scalar else {
                findings.error(place, "an entry of “\(name.value)” is one value")
                return nil
            }
            return value(scalar, of: name, at: place)
        }
    }

    /// The text of a value as it stands in the file, be it a number, a word or a quoted text.
    private mutating func value(_ scalar: Node.Scalar, of name: Placed<String>, at place: Place) -> String? {
        let isNull = scalar.style == .plain && ["~", "null", "Null", "NULL"].contains(scalar.string)
        guard !isNull, !scalar.string.isEmpty else {
            findings.error(place, "“\(name.value)” has no value; give it one, or take it out")
            return nil
        }
        return scalar.string
    }
}

internal import FoundationEssentials
internal import MergeCore
internal import Yams

/// A settings file: one mapping of names to values, in YAML or JSON.
package struct SettingsFile: Sendable {
    /// The values by name; several only if the setting is a list.
    package private(set) var values: [String: [String]] = [:]
    /// The findings in the file.
    package private(set) var findings = Findings()

    /// Reads a file with settings of these names, of which some are lists.
    ///
    /// Everything else in the file is a finding.
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
                findings.error(name.place, "“\(name.value)” is not a setting\(nearest(name.value, names))")
                continue
            }
            values[name.value] = read(node, name: name, takesList: lists.contains(name.value))
        }
    }

    private mutating func read(_ node: Node, name: Placed<String>, takesList: Bool) -> [String] {
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

    /// Returns the text of a value as written, be it a number, a word or a quoted text.
    private mutating func value(_ scalar: Node.Scalar, of name: Placed<String>, at place: Place) -> String? {
        let isNull = scalar.style == .plain && ["~", "null", "Null", "NULL"].contains(scalar.string)
        guard !isNull, !scalar.string.isEmpty else {
            findings.error(place, "“\(name.value)” has no value; give it one, or take it out")
            return nil
        }
        return scalar.string
    }
}

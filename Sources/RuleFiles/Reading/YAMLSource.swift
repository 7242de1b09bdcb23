internal import Yams

/// Parses the text of a rule file into nodes.
///
/// The parser stops at a duplicate key of a mapping, which would hide further errors. So the first of the two keys is
/// replaced by an unused name of equal length, and the text is parsed again. The length keeps all locations correct.
struct YAMLSource {
    private var lines: [[Unicode.Scalar]]
    private let file: String
    /// The names of the replaced keys, by the character of their replacement.
    private var renamed: [Unicode.Scalar: String] = [:]
    /// Private characters of Unicode, each of which YAML allows in a name.
    private static let names = 0xE000...0xE0FF

    private init(_ text: some Sequence<Unicode.Scalar>, file: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Array($0) }
        self.file = file
    }

    /// Returns the root of a file's text, or nil, with a finding, if it is not YAML.
    static func root(of text: String, file: String, _ findings: inout Findings) -> Node? {
        // Editors on Windows begin files with a byte order mark, which the parser treats as content.
        let scalars =
            text.unicodeScalars.first == "\u{FEFF}" ? text.unicodeScalars.dropFirst() : text.unicodeScalars[...]
        var whole = YAMLSource(scalars, file: file)
        return whole.root(&findings)
    }

    private mutating func root(_ findings: inout Findings) -> Node? {
        let start = Place(file: file, line: 1, column: 1)
        while true {
            do {
                guard let node = try Parser(yaml: text).singleRoot() else {
                    findings.error(start, "the file is empty")
                    return nil
                }
                return withoutRenamed(node, findings: &findings)
            } catch let YamlError.scanner(_, problem, mark, _), let YamlError.parser(_, problem, mark, _),
                let YamlError.composer(_, problem, mark, _)
            {
                findings.error(
                    Place(file: file, line: mark.line, column: mark.column), "the file is not YAML: \(problem)")
                return nil
            } catch let YamlError.duplicatedKeysInMapping(duplicates, context) {
                if let first = duplicates.first, rename(first, at: context.mark) { continue }
                let place = Place(file: file, line: context.mark.line, column: context.mark.column)
                let names = duplicates.map { "“\($0)”" }.joined(separator: ", ")
                findings.error(place, "a mapping has the key \(names) more than once")
                return nil
            } catch {
                findings.error(start, "the file is not YAML")
                return nil
            }
        }
    }

    private var text: String {
        var text = String.UnicodeScalarView()
        for (index, line) in lines.enumerated() {
            if index > 0 { text.append("\n") }
            text.append(contentsOf: line)
        }
        return String(text)
    }

    /// Replaces a key by another name, or returns false if its spelling differs or there are too many.
    private mutating func rename(_ name: String, at mark: Mark) -> Bool {
        guard renamed.count < Self.names.count, let new = Unicode.Scalar(Self.names.lowerBound + renamed.count),
            !name.isEmpty, lines.indices.contains(mark.line - 1)
        else { return false }
        let line = lines[mark.line - 1]
        let start = mark.column - 1
        for quote in ["", "\"", "'"] {
            let spelled = Array((quote + name + quote).unicodeScalars)
            let end = start + spelled.count
            guard start >= 0, end <= line.count, Array(line[start..<end]) == spelled else { continue }
            lines[mark.line - 1].replaceSubrange(start..<end, with: repeatElement(new, count: spelled.count))
            renamed[new] = name
            return true
        }
        return false
    }

    /// Removes the replaced keys, and adds a finding at the duplicate of each.
    private func withoutRenamed(_ node: Node, findings: inout Findings) -> Node {
        if renamed.isEmpty { return node }
        switch node {
        case .sequence(let sequence):
            let nodes = sequence.map { withoutRenamed($0, findings: &findings) }
            return .sequence(Node.Sequence(nodes, sequence.tag, sequence.style, sequence.mark))
        case .mapping(let mapping):
            var pairs: [(Node, Node)] = []
            for (index, (key, value)) in mapping.enumerated() {
                guard let name = originalName(of: key) else {
                    pairs.append((key, withoutRenamed(value, findings: &findings)))
                    continue
                }
                let again = mapping.dropFirst(index + 1).first { self.name(of: $0.key) == name }?.key ?? key
                findings.error(again.place(in: file), "the mapping has the key “\(name)” more than once")
            }
            return .mapping(Node.Mapping(pairs, mapping.tag, mapping.style, mapping.mark))
        case .scalar, .alias: return node
        }
    }

    private func name(of key: Node) -> String? { originalName(of: key) ?? key.scalar?.string }

    private func originalName(of key: Node) -> String? {
        key.scalar?.string.unicodeScalars.first.flatMap { renamed[$0] }
    }
}

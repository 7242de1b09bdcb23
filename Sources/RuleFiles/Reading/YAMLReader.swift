internal import Yams

/// A mapping of a rule file.
struct YAMLMapping {
    private let pairs: [(key: Placed<String>, value: Node)]
    let place: Place
    private let file: String

    /// Returns nil, with a finding, if the node is no mapping.
    init?(_ node: Node, file: String, what: String, _ findings: inout Findings) {
        self.file = file
        place = node.place(in: file)
        guard let mapping = node.mapping else {
            findings.error(place, "\(what) must be a mapping of names to values")
            return nil
        }
        var pairs: [(key: Placed<String>, value: Node)] = []
        for (key, value) in mapping {
            guard let name = key.scalar?.string, !name.isEmpty else {
                findings.error(key.place(in: file), "a key in \(what) must be a name")
                continue
            }
            pairs.append((Placed(value: name, place: key.place(in: file)), value))
        }
        self.pairs = pairs
    }

    var entries: [(key: Placed<String>, value: Node)] { pairs }

    subscript(name: String) -> Node? { pairs.first { $0.key.value == name }?.value }

    func place(of name: String) -> Place { pairs.first { $0.key.value == name }?.key.place ?? place }

    /// Adds a finding for every unknown key.
    func refuseUnknown(_ known: [String], in what: String, _ findings: inout Findings) {
        for (key, _) in pairs where !known.contains(key.value) {
            findings.error(key.place, "“\(key.value)” is not a key of \(what)\(nearest(key.value, known))")
        }
    }

    func text(_ name: String, _ findings: inout Findings) -> Placed<String>? {
        self[name].flatMap { $0.name(in: file, "“\(name)”", &findings) }
    }

    func flag(_ name: String, _ findings: inout Findings) -> Bool? {
        guard let node = self[name] else { return nil }
        guard let flag = node.bool else {
            findings.error(node.place(in: file), "“\(name)” must be true or false")
            return nil
        }
        return flag
    }

    /// Reads one name or a list of names.
    func names(_ name: String, _ findings: inout Findings) -> [Placed<String>] {
        guard let node = self[name] else { return [] }
        guard let sequence = node.sequence else {
            return node.name(in: file, "“\(name)”", &findings).map { [$0] } ?? []
        }
        if sequence.isEmpty { findings.error(node.place(in: file), "“\(name)” names no column") }
        return sequence.compactMap { $0.name(in: file, "an entry of “\(name)”", &findings) }
    }

    func mapping(_ name: String, _ findings: inout Findings) -> YAMLMapping? {
        self[name].flatMap { YAMLMapping($0, file: file, what: "“\(name)”", &findings) }
    }

    func mappings(_ name: String, what: String, _ findings: inout Findings) -> [YAMLMapping] {
        guard let node = self[name] else { return [] }
        guard let sequence = node.sequence else {
            findings.error(node.place(in: file), "“\(name)” must be a list")
            return []
        }
        return sequence.compactMap { YAMLMapping($0, file: file, what: what, &findings) }
    }

    /// Reads one of a closed set of words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, of type: Choice.Type, findings: inout Findings
    ) -> Placed<Choice>? where Choice.RawValue == String {
        guard let text = text(name, &findings) else { return nil }
        if let choice = Choice(rawValue: text.value) { return Placed(value: choice, place: text.place) }
        let words = Choice.allCases.map(\.rawValue)
        findings.error(
            text.place,
            "“\(name)” is one of \(words.joined(separator: ", ")), not “\(text.value)”\(nearest(text.value, words))")
        return nil
    }
}

extension Node {
    func place(in file: String) -> Place {
        Place(file: file, line: mark?.line ?? 1, column: mark?.column ?? 1)
    }

    /// Reads a scalar that is not empty.
    func name(in file: String, _ what: String, _ findings: inout Findings) -> Placed<String>? {
        guard let text = scalar?.string, !text.isEmpty else {
            findings.error(place(in: file), "\(what) must be a name")
            return nil
        }
        return Placed(value: text, place: place(in: file))
    }
}

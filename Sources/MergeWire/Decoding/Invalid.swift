import MergeCore

/// Problems of a body that is JSON but violates Protocol.md.
enum Invalid {
    static func problem(_ path: WirePath, _ sentence: String) -> Problem {
        Problem(
            .invalid, detail: (path.text.isEmpty ? "The body" : "“\(path.text)”") + " " + sentence + ".", path: path)
    }

    /// A kind of name in a body.
    enum Part: String {
        case section
        case group
        case field

        fileprivate var unknown: ProblemCode {
            switch self {
            case .section: .unknownSection
            case .group: .unknownGroup
            case .field: .unknownField
            }
        }
    }

    static func unknown(_ part: Part, named sent: ExactText, at path: WirePath, among names: [String]) -> Problem {
        let name = sent.string
        if name.utf8.count > NameIndex.maximumBytes {
            return tooLong(at: path.member(name), limit: NameIndex.maximumBytes)
        }
        var end = NearestName.ending(for: name, among: names)
        // If no name is near, the message lists the sections.
        if part == .section, end == ".", names.count <= mostNames { end = "; " + list(names) + "." }
        return Problem(
            part.unknown, detail: "“\(name)” is no \(part.rawValue) here\(end)", path: path.member(name))
    }

    private static let mostNames = 12

    private static func list(_ names: [String]) -> String {
        let quoted = names.map { "“\($0)”" }
        guard quoted.count > 1, let last = quoted.last else { return "the section is \(quoted.joined())" }
        return "the sections are \(quoted.dropLast().joined(separator: ", ")) and \(last)"
    }

    /// The form of a change, for messages about a bare value.
    static let change = #"{"old": what was read, "new": what is wanted}"#

    /// The problem of a group without `old`.
    static func bareValue(_ node: JSONNode, at path: WirePath) -> Problem {
        problem(path, "must be \(change), not \(node.scalar.kind)")
    }

    /// The problem of a group's fields without `old`.
    static func bareFields(_ sent: ExactText, at path: WirePath) -> Problem {
        guard sent.string.utf8.count <= NameIndex.maximumBytes else {
            return tooLong(at: path.member(sent.string), limit: NameIndex.maximumBytes)
        }
        return Problem(
            .unknownMember, detail: "“\(sent.string)” is not a member here; a group is sent as \(change).",
            path: path.member(sent.string))
    }

    static func member(_ sent: ExactText, at path: WirePath, known: [String]) -> Problem {
        let name = sent.string
        if name.utf8.count > NameIndex.maximumBytes {
            return tooLong(at: path.member(name), limit: NameIndex.maximumBytes)
        }
        return Problem(
            .unknownMember, detail: "“\(name)” is not a member here\(NearestName.ending(for: name, among: known))",
            path: path.member(name)
        )
    }

    /// The problem of a group or field with both its current and its earlier name.
    static func twice(_ name: ExactText, at path: WirePath) -> Problem {
        problem(path.member(name.string), "is an earlier name of something that is named here as well")
    }

    static func tooLong(at path: WirePath, limit: Int) -> Problem {
        Problem(.nameTooLong, detail: "The value at “\(path.text)” is longer than \(limit) bytes.", path: path)
    }

    static func tooMany(_ what: String, limit: Int, at path: WirePath) -> Problem {
        Problem(.tooMany, detail: "A push may contain \(limit) \(what); split it.", path: path)
    }
}

extension TemporaryID {
    func checkLength(_ path: @autoclosure () -> WirePath) throws(Problem) {
        guard text.utf8.count > Self.maximumBytes else { return }
        throw Invalid.tooLong(at: path(), limit: Self.maximumBytes)
    }
}

extension JSONNode {
    /// Checks that the value is an object without unknown members.
    ///
    /// - Throws: a `Problem` otherwise.
    func checkObject(_ path: WirePath, known: [String]) throws(Problem) {
        guard isObject else { throw Invalid.problem(path, "must be an object, not \(scalar.kind)") }
        var found = 0
        for name in known where self[name] != nil { found += 1 }
        if found == count { return }
        for (name, _) in members where !known.containsExactly(name.string) {
            throw Invalid.member(name, at: path, known: known)
        }
    }
}

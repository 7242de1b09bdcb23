extension Scalar {
    /// Returns the members that a client sent as an array or as a text.
    ///
    /// The text has commas for any column. It may have the column's own separator instead if no member contains a
    /// comma.
    private func memberTexts(separator: String) throws(ValueProblem) -> [ExactText] {
        switch self {
        case .text(let text):
            let parts = Self.split(text, separator)
            return parts.contains { $0.string.utf8.contains(UInt8(ascii: ",")) } ? Self.split(text, ",") : parts
        case .array(let elements):
            var out: [ExactText] = []
            for element in elements {
                guard case .text(let text) = element else {
                    throw ValueProblem("has \(element.kind) among its members; strings are needed")
                }
                out.append(ExactText(text))
            }
            return out
        default: throw ValueProblem("is \(kind); an array of strings is needed")
        }
    }

    /// Returns the members for a SET column, in the column's order, each once.
    func members(of allowed: [ExactText]) throws(ValueProblem) -> [ExactText] {
        let sent = Set(try memberTexts(separator: ","))
        guard sent.isSubset(of: allowed) else { throw ValueProblem("has a member that the column's SET lacks") }
        return allowed.filter(sent.contains)
    }

    /// Returns the members for a delimited text, in the client's order, each once.
    func members(separator: String, type: TextType) throws(ValueProblem) -> [ExactText] {
        var seen: Set<ExactText> = []
        let sent = try memberTexts(separator: separator).filter { seen.insert($0).inserted }
        if sent.contains(where: { $0.string.isEmpty }) { throw ValueProblem("has an empty member") }
        if sent.contains(where: { Self.split($0.string, separator).count > 1 }) {
            throw ValueProblem("has a member that contains the separator")
        }
        let text = try type.fitted(sent.map(\.string).joined(separator: separator)).string
        // A separator that overlaps itself could match across two members.
        guard Self.split(text, separator) == sent else {
            throw ValueProblem("has members that cannot be separated again")
        }
        return sent
    }

    /// Returns the members of a column's delimited text, each once, in order.
    ///
    /// An old text may repeat a member or contain an empty one.
    package static func heldMembers(_ text: String, separator: String) -> [ExactText] {
        var seen: Set<ExactText> = []
        return split(text, separator).filter { !$0.string.isEmpty && seen.insert($0).inserted }
    }

    /// Returns the parts of a delimited text; an empty text has none.
    package static func split(_ text: String, _ separator: String) -> [ExactText] {
        guard !text.isEmpty, !separator.isEmpty else { return text.isEmpty ? [] : [ExactText(text)] }
        let bytes = Array(text.utf8)
        let mark = Array(separator.utf8)
        var parts: [ExactText] = []
        var start = 0
        var index = 0
        while index + mark.count <= bytes.count {
            if bytes[index..<index + mark.count].elementsEqual(mark) {
                parts.append(ExactText(String(decoding: bytes[start..<index], as: UTF8.self)))
                index += mark.count
                start = index
            } else {
                index += 1
            }
        }
        parts.append(ExactText(String(decoding: bytes[start...], as: UTF8.self)))
        return parts
    }
}

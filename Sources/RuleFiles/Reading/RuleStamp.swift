import MergeCore
internal import Yams

/// A column of `stamp` as written.
struct RuleStamp: Sendable, Hashable {
    enum Source: Sendable, Hashable {
        case now
        case claim(Placed<String>)
        case value(Placed<RuleConstant>)
    }

    let column: Placed<String>
    let source: Source
}

extension RuleFileReader {
    /// Reads `{COLUMN: now, COLUMN: {claim: NAME}, COLUMN: {value: X}}`.
    mutating func readStamps(_ section: YAMLMapping) -> [RuleStamp] {
        guard let stamps = section.mapping("stamp", &findings) else { return [] }
        if stamps.entries.isEmpty { findings.error(stamps.place, "“stamp” names no column") }
        return stamps.entries.compactMap { column, node in
            readStamp(node, of: column.value).map { RuleStamp(column: column, source: $0) }
        }
    }

    private mutating func readStamp(_ node: Node, of column: String) -> RuleStamp.Source? {
        if node.scalar?.string.isExactly("now") == true { return .now }
        guard node.mapping != nil, let source = YAMLMapping(node, file: file, what: "“stamp”", &findings) else {
            findings.error(
                node.place(in: file), "column “\(column)” is stamped with now, {claim: NAME} or {value: CONSTANT}")
            return nil
        }
        source.refuseUnknown(["claim", "value"], in: "a stamp", &findings)
        guard source.entries.count == 1 else {
            findings.error(source.place, "a stamp is now, {claim: NAME} or {value: CONSTANT}")
            return nil
        }
        if let claim = source.text("claim", &findings) { return .claim(claim) }
        guard let value = source["value"] else { return nil }
        guard let constant = RuleConstant(value) else {
            findings.error(value.place(in: file), "“value” is a constant")
            return nil
        }
        return .value(Placed(value: constant, place: value.place(in: file)))
    }
}

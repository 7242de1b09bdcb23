import MergeCore

/// The packed form of a client that sees only some records, in a delivery record.
enum PackedViewer {
    private enum Mark: UInt8 {
        case null, boolean, integer, number, text, array
    }

    private static let maximumDepth = 8

    /// Encodes a client; nil if no condition can compare one of its claims.
    static func bytes(_ viewer: Viewer) -> [UInt8]? {
        var out: [UInt8] = []
        PackedNumber.append(viewer.who.utf8, to: &out)
        let roles = viewer.roles.sorted()
        PackedNumber.append(UInt64(roles.count), to: &out)
        for role in roles { PackedNumber.append(role.string.utf8, to: &out) }
        let names = viewer.claims.names
        PackedNumber.append(UInt64(names.count), to: &out)
        for name in names {
            PackedNumber.append(name.string.utf8, to: &out)
            guard let claim = viewer.claims[name.string], append(claim, to: &out) else { return nil }
        }
        if viewer.filters.isEmpty { return out }
        // Earlier versions ignore the following bytes.
        PackedNumber.append(UInt64(viewer.filters.count), to: &out)
        return viewer.filters.allSatisfy { append($0, to: &out) } ? out : nil
    }

    private static func append(_ filter: RecordFilter, to out: inout [UInt8]) -> Bool {
        PackedNumber.append(UInt64(filter.conditions.count), to: &out)
        for (resource, conditions) in filter.conditions.sorted(by: { $0.key < $1.key }) {
            PackedNumber.append(resource.string.utf8, to: &out)
            PackedNumber.append(UInt64(conditions.count), to: &out)
            for condition in conditions {
                PackedNumber.append(condition.section.utf8, to: &out)
                PackedNumber.append(condition.field.utf8, to: &out)
                switch condition.test {
                case .oneOf(let values):
                    out.append(0)
                    guard append(.array(values), to: &out) else { return false }
                case .range(let from, let before):
                    // Null is no bound, so it represents a missing one.
                    out.append(1)
                    guard append(from ?? .null, to: &out), append(before ?? .null, to: &out) else { return false }
                }
            }
        }
        return true
    }

    private static func append(_ scalar: Scalar, to out: inout [UInt8]) -> Bool {
        switch scalar {
        case .null: out.append(Mark.null.rawValue)
        case .boolean(let flag): out += [Mark.boolean.rawValue, flag ? 1 : 0]
        case .integer(let number):
            out.append(Mark.integer.rawValue)
            out += UInt64(bitPattern: number).packedBytes
        case .number(let number): append(.number, number.text, to: &out)
        case .text(let text): append(.text, text, to: &out)
        case .array(let elements):
            out.append(Mark.array.rawValue)
            PackedNumber.append(UInt64(elements.count), to: &out)
            return elements.allSatisfy { append($0, to: &out) }
        case .vast, .object: return false
        }
        return true
    }

    private static func append(_ mark: Mark, _ text: String, to out: inout [UInt8]) {
        out.append(mark.rawValue)
        PackedNumber.append(text.utf8, to: &out)
    }

    /// Decodes `bytes`; nil if they are damaged.
    static func viewer(_ reader: inout PackedReader) -> Viewer? {
        guard let who = text(&reader), let roleCount = reader.count() else { return nil }
        var roles: Set<ExactText> = []
        for _ in 0..<roleCount {
            guard let role = text(&reader) else { return nil }
            roles.insert(ExactText(role))
        }
        guard let claimCount = reader.count() else { return nil }
        var claims: [ExactText: Scalar] = [:]
        for _ in 0..<claimCount {
            guard let name = text(&reader), let claim = scalar(&reader, depth: 0) else { return nil }
            claims[ExactText(name)] = claim
        }
        let viewer = Viewer(who: who, roles: roles, claims: AccessClaims(claims))
        if reader.isAtEnd { return viewer }
        guard let filterCount = reader.count() else { return nil }
        var filters: [RecordFilter] = []
        for _ in 0..<filterCount {
            guard let filter = filter(&reader) else { return nil }
            filters.append(filter)
        }
        return viewer.with(filters)
    }

    private static func filter(_ reader: inout PackedReader) -> RecordFilter? {
        guard let resourceCount = reader.count() else { return nil }
        var all: [ExactText: [RecordFilter.Condition]] = [:]
        for _ in 0..<resourceCount {
            guard let resource = text(&reader), let count = reader.count() else { return nil }
            var conditions: [RecordFilter.Condition] = []
            for _ in 0..<count {
                guard let section = text(&reader), let field = text(&reader), let test = test(&reader) else {
                    return nil
                }
                conditions.append(RecordFilter.Condition(section: section, field: field, test: test))
            }
            all[ExactText(resource)] = conditions
        }
        return RecordFilter(all)
    }

    private static func test(_ reader: inout PackedReader) -> RecordFilter.Test? {
        switch reader.byte() {
        case 0:
            guard case .array(let values)? = scalar(&reader, depth: 0) else { return nil }
            return .oneOf(values)
        case 1:
            guard let from = scalar(&reader, depth: 0), let before = scalar(&reader, depth: 0) else { return nil }
            return .range(from: from == .null ? nil : from, before: before == .null ? nil : before)
        default: return nil
        }
    }

    private static func text(_ reader: inout PackedReader) -> String? {
        reader.bytes().flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func scalar(_ reader: inout PackedReader, depth: Int) -> Scalar? {
        guard depth < maximumDepth, let mark = reader.byte().flatMap({ Mark(rawValue: $0) }) else { return nil }
        switch mark {
        case .null: return .null
        case .boolean: return reader.byte().map { .boolean($0 == 1) }
        case .integer: return reader.word().map { .integer(Int64(bitPattern: $0)) }
        case .number: return text(&reader).flatMap { ExactDecimal($0) }.map { .number($0) }
        case .text: return text(&reader).map { .text($0) }
        case .array:
            guard let count = reader.count() else { return nil }
            var elements: [Scalar] = []
            for _ in 0..<count {
                guard let element = scalar(&reader, depth: depth + 1) else { return nil }
                elements.append(element)
            }
            return .array(elements)
        }
    }
}

import MergeCore

/// Guesses the type of a column from its use in the rules and its samples.
enum SampledType {
    private static let text = ColumnType.text(TextType())
    private static let set = ColumnType.delimitedSet(separator: ",", TextType())
    private static let json = ColumnType.json(TextType())

    static func type(for use: OfflineUse, holding samples: [Scalar]) -> ColumnType {
        let samples = samples.filter { $0 != .null }
        switch use {
        case .plain: return plain(samples)
        case .add: return SampledNumber.type(samples)
        case .order: return order(samples)
        case .set:
            let isText = samples.contains { if case .text = $0 { true } else { false } }
            return isText || samples.isEmpty ? set : json
        case .text: return text
        case .json: return json
        case .time: return SampledTime.type(samples) ?? .dateTime(fraction: 0)
        case .named(let name): return named(name, samples)
        }
    }

    /// Returns text unless a sample shows another type.
    private static func plain(_ samples: [Scalar]) -> ColumnType {
        if samples.isEmpty { return text }
        if samples.contains(where: \.isStructure) { return json }
        if samples.contains(where: \.isBoolean) { return .boolean }
        return samples.contains(where: \.isNumber) && samples.allSatisfy(SampledNumber.isNumber)
            ? SampledNumber.type(samples) : text
    }

    private static func order(_ samples: [Scalar]) -> ColumnType {
        if samples.isEmpty { return text }
        if samples.allSatisfy(\.isBoolean) { return .boolean }
        if samples.allSatisfy(SampledNumber.isNumber) { return SampledNumber.type(samples) }
        return SampledTime.type(samples) ?? text
    }

    /// Returns the type with a name of `ColumnType.name`, or text for an unknown name, which is refused elsewhere.
    private static func named(_ name: String, _ samples: [Scalar]) -> ColumnType {
        let digits = SampledTime.fractionDigits(samples)
        return switch name {
        case "boolean": .boolean
        case "integer": SampledNumber.integer(samples)
        case "decimal": SampledNumber.decimal(samples)
        case "float": .float(isUnsigned: false)
        case "double": .double(isUnsigned: false)
        case "year": .year
        case "bit": .bit(64)
        case "set": set
        case "json": json
        case "enum": .enumeration(members(samples))
        case "date": .date
        case "datetime": .dateTime(fraction: digits)
        case "timestamp": .timestamp(fraction: digits, nil)
        case "time": .time(fraction: digits)
        case "binary": .bytes(maximum: nil)
        case "uuid": .uuid
        case "inet4": .inet4
        case "inet6": .inet6
        default: text
        }
    }

    /// Returns every text in the samples, in order.
    private static func members(_ samples: [Scalar]) -> [ExactText] {
        var seen: Set<ExactText> = []
        return samples.compactMap { sample in
            guard case .text(let text) = sample, seen.insert(ExactText(text)).inserted else { return nil }
            return ExactText(text)
        }
    }
}

extension Scalar {
    fileprivate var isBoolean: Bool {
        if case .boolean = self { true } else { false }
    }

    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .number, .vast: true
        default: false
        }
    }

    fileprivate var isStructure: Bool {
        switch self {
        case .array, .object: true
        default: false
        }
    }
}

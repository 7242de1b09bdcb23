import MergeCore

/// The resources of an answer of `GET /v1/rules`, as far as the types of clients need them.
struct DescribedRules {
    let resources: [DescribedResource]

    init(_ rules: String) throws(ClientTypesFault) {
        guard let resources = JSONParser.parse(rules)?["resources"]?.elements else { throw .notRules }
        var read: [DescribedResource] = []
        for resource in resources {
            guard let resource = DescribedResource(resource) else { throw .notRules }
            read.append(resource)
        }
        self.resources = read
    }
}

/// A resource with its sections, the root first.
struct DescribedResource {
    let name: String
    let description: String?
    let sections: [DescribedSection]

    fileprivate init?(_ described: JSONTree) {
        guard let name = described["resource"]?.string, let sections = described["sections"]?.elements else {
            return nil
        }
        self.name = name
        description = described["description"]?.string
        self.sections = sections.compactMap(DescribedSection.init)
        if self.sections.isEmpty || self.sections.count != sections.count { return nil }
    }
}

/// A section with its fields: those of the groups, then the read-only ones.
struct DescribedSection {
    enum Kind: String {
        case root, singleton, list
    }

    let name: String
    let kind: Kind
    let key: [FieldKind]
    /// True if the database numbers the rows.
    let isGenerated: Bool
    let fields: [DescribedField]

    fileprivate init?(_ described: JSONTree) {
        guard let name = described["section"]?.string, let kind = described["kind"]?.string.flatMap(Kind.init),
            let groups = described["groups"]?.elements
        else { return nil }
        self.name = name
        self.kind = kind
        let columns = described["key"]?.elements ?? []
        key = columns.map { FieldKind($0) }
        isGenerated = columns.contains { $0["generated"]?.flag == true }
        let written = groups.flatMap { group in
            (group["fields"]?.elements ?? []).compactMap { DescribedField($0, DescribedField.Use(of: group)) }
        }
        fields = written + (described["readOnly"]?.elements ?? []).compactMap { DescribedField($0, .read) }
    }
}

/// A field with the values that it can contain.
struct DescribedField {
    /// The use that this client may make of a field.
    enum Use {
        case write
        /// A creation may set the field.
        case create
        case read

        fileprivate init(of group: JSONTree) {
            guard group["write"]?.flag == false else {
                self = .write
                return
            }
            self = group["create"]?.flag == true ? .create : .read
        }
    }

    let name: String
    let kind: FieldKind
    let isNullable: Bool
    let use: Use

    fileprivate init?(_ described: JSONTree, _ use: Use) {
        guard let name = described["field"]?.string else { return nil }
        self.name = name
        self.use = use
        kind = FieldKind(described)
        isNullable = described["nullable"]?.flag ?? true
    }
}

/// The values of a field, as far as languages distinguish them.
enum FieldKind {
    case boolean, number, text, date, dateTime, timestamp, time, binary, json
    case integer(IntegerSize)
    /// The digits are nil if the database does not limit them.
    case decimal(digits: Int?)
    /// The members of an ENUM column.
    case member([String])
    /// The members of a SET column; nil for a set in a text column.
    case members([String]?)
    /// An id of a record of another resource.
    case reference(resource: String)

    /// The numbers that an integer column can contain.
    enum IntegerSize {
        /// Within ±2^53, so that JSON contains a number.
        case exact
        case signed
        case unsigned
    }

    fileprivate init(_ described: JSONTree) {
        if let resource = described["references"]?.string {
            self = .reference(resource: resource)
            return
        }
        let members = described["members"]?.elements?.compactMap(\.string)
        self =
            switch described["type"]?.string {
            case "boolean": .boolean
            case "integer": .integer(IntegerSize(described["minimum"]?.number, described["maximum"]?.number))
            case "bit": .integer(IntegerSize(bits: described["bits"]?.number ?? 64))
            case "year": .integer(.exact)
            case "decimal": .decimal(digits: described["precision"]?.number.flatMap { Int(exactly: $0) })
            case "float", "double": .number
            case "enum": .member(members ?? [])
            case "set": .members(members)
            case "date": .date
            case "datetime": .dateTime
            case "timestamp": .timestamp
            case "time": .time
            case "binary": .binary
            case "json": .json
            default: .text
            }
    }
}

extension FieldKind.IntegerSize {
    private static let safe: ClosedRange<Int128> = -(1 << 53)...(1 << 53)

    fileprivate init(_ minimum: Int128?, _ maximum: Int128?) {
        let (low, high) = (minimum ?? Int128(Int64.min), maximum ?? Int128(Int64.max))
        if high > Int128(Int64.max) {
            self = .unsigned
        } else {
            self = Self.safe.contains(low) && Self.safe.contains(high) ? .exact : .signed
        }
    }

    fileprivate init(bits: Int128) { self = bits > 63 ? .unsigned : bits > 53 ? .signed : .exact }
}

extension JSONTree {
    fileprivate subscript(name: String) -> JSONTree? {
        guard case .object(let members) = self else { return nil }
        return members.list.first { $0.name.string == name }?.value
    }

    fileprivate var elements: [JSONTree]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var string: String? {
        if case .text(let text) = self { text.string } else { nil }
    }

    fileprivate var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// A whole number, or a text of one beyond ±2^53.
    fileprivate var number: Int128? {
        switch self {
        case .integer(let number): number
        case .text(let text): Int128(text.string)
        default: nil
        }
    }
}

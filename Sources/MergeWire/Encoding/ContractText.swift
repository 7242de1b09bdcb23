import MergeCore

/// The words of the contract as JSON: problems, outcomes, policies, merge functions and column types.
///
/// `Tests/Clients/Cases/contract.json` is its text. The guides and the client libraries are tested against that file.
package enum ContractText {
    /// The JSON, with one entry in each line.
    package static var json: String {
        let members = [
            list("problems", entries: ProblemCode.allCases.map(problem)),
            list("outcomes", entries: OutcomeKind.allCases.map { string($0.rawValue) }),
            list("onConflict", entries: ConflictPolicy.allCases.map { string($0.rawValue) }),
            list("onMissing", entries: MissingPolicy.allCases.map { string($0.rawValue) }),
            list("onDeleteConflict", entries: DeleteConflictPolicy.allCases.map { string($0.rawValue) }),
            list("onFailure", entries: CheckFailurePolicy.allCases.map { string($0.rawValue) }),
            list("mergeFunctions", entries: MergeFunction.Name.allCases.map { string($0.rawValue) }),
            list("columnTypes", entries: TypeName.allCases.map(type)),
        ]
        return "{\n" + members.joined(separator: ",\n") + "\n}\n"
    }

    private static func list(_ name: String, entries: [String]) -> String {
        "  \(string(name)): [\n" + entries.map { "    " + $0 }.joined(separator: ",\n") + "\n  ]"
    }

    private static func string(_ text: String) -> String { written { $0.string(text) } }

    private static func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Writes a code with its usual status and title.
    ///
    /// `client` is the action of a client whose push has the problem.
    private static func problem(_ code: ProblemCode) -> String {
        written { writer in
            writer.object { writer in
                writer.member("code")
                writer.string(code.rawValue)
                writer.member("status")
                writer.integer(code.status)
                writer.member("title")
                writer.string(code.title)
                writer.member("client")
                if let action = code.clientAction { writer.string(action.rawValue) } else { writer.null() }
            }
        }
    }

    /// Writes a type with the names of the limits that `GET /v1/rules` gives its fields.
    private static func type(_ name: TypeName) -> String {
        var limits: [String] = []
        for type in examples(of: name) {
            let object = written { writer in writer.object { RulesEncoder.limits(type, &$0) } }
            let names = JSONDocument.stored(Array(object.utf8)) { $0.members.map(\.name.string) }
            for name in names ?? [] where !limits.contains(name) { limits.append(name) }
        }
        return written { writer in
            writer.object { writer in
                writer.member("type")
                writer.string(name.rawValue)
                writer.member("limits")
                writer.array { writer in
                    for limit in limits { writer.string(limit) }
                }
            }
        }
    }

    /// Returns types of a name that together have all its limits.
    private static func examples(of name: TypeName) -> [ColumnType] {
        let text = TextType(maximumCharacters: 1, maximumBytes: 1)
        return switch name {
        case .boolean: [.boolean]
        case .integer: [.integer(0...1)]
        case .bit: [.bit(2)]
        case .year: [.year]
        case .decimal: [.decimal(precision: 1, scale: 0, isUnsigned: false), .numeric(scale: 0)]
        case .float: [.float(isUnsigned: false)]
        case .double: [.double(isUnsigned: false)]
        case .text: [.text(text)]
        case .enumeration: [.enumeration([])]
        case .set: [.set([]), .delimitedSet(separator: ",", text)]
        case .date: [.date]
        case .dateTime: [.dateTime(fraction: 0)]
        case .timestamp: [.timestamp(fraction: 0, nil)]
        case .time: [.time(fraction: 0)]
        case .binary: [.binary(1), .bytes(maximum: 1)]
        case .uuid: [.uuid]
        case .inet4: [.inet4]
        case .inet6: [.inet6]
        case .geometry: [.wellKnownText]
        case .json: [.json(text)]
        }
    }
}

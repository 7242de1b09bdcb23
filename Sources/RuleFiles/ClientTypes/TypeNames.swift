/// The names of the types that a language has for resources, sections and ENUM columns.
struct TypeNames {
    /// The names of a resource.
    struct Resource {
        /// The name that an app gives to `store.of`.
        let constant: String
        /// The name of the record's type.
        let record: String
    }

    private(set) var resources: [String: Resource] = [:]
    private var owners: [String: String] = [:]
    private let taken: Set<String>

    /// Names the types of all resources.
    ///
    /// - Parameter chosen: other names for resources, from which their types are named.
    init(
        _ rules: DescribedRules, in language: ClientLanguage, chosen: [String: String]
    ) throws(ClientTypesFault) {
        taken = language.takenTypes
        let known = rules.resources.map(\.name)
        if let name = chosen.keys.sorted().first(where: { !known.contains($0) }) {
            throw .unknownResource(name, known: known)
        }
        for name in known {
            let words = NameWords(chosen[name] ?? name).words
            guard let last = words.last else { throw .noName(name) }
            let constant = free(Self.pascal(words), suffix: "Records")
            let singular = Self.pascal(words.dropLast() + [Self.singular(last)])
            let record = singular == constant || taken.contains(singular) ? singular + "Record" : singular
            try claim(constant, for: name)
            try claim(record, for: name)
            resources[name] = Resource(constant: constant, record: record)
        }
    }

    /// Returns the name of the type of a section's rows.
    mutating func row(of section: DescribedSection, in resource: String) -> String {
        var words = NameWords(section.name).words
        if section.kind == .list, let last = words.popLast() { words.append(Self.singular(last)) }
        return extra((resources[resource]?.record ?? "") + Self.pascal(words), suffix: "Row", for: resource)
    }

    /// Returns the name of the type of a field with members.
    mutating func members(of field: String, in row: String, resource: String) -> String {
        extra(row + Self.pascal(NameWords(field).words), suffix: "Value", for: resource)
    }

    /// Records keep their short names, so a part of a record takes a longer one.
    private mutating func extra(_ name: String, suffix: String, for resource: String) -> String {
        var name = name
        while owners[name] != nil || taken.contains(name) { name += suffix }
        owners[name] = resource
        return name
    }

    private func free(_ name: String, suffix: String) -> String { taken.contains(name) ? name + suffix : name }

    private mutating func claim(_ name: String, for resource: String) throws(ClientTypesFault) {
        if let owner = owners.updateValue(resource, forKey: name) {
            throw .sameName(name, first: owner, second: resource)
        }
    }

    private static func pascal(_ words: some Sequence<String>) -> String {
        let name = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return name.first?.isNumber == true ? "R" + name : name
    }

    /// The singular of an English word, or the word itself.
    static func singular(_ word: String) -> String {
        if word.hasSuffix("ies"), word.count > 4 { return word.dropLast(3) + "y" }
        for ending in ["sses", "shes", "ches", "xes", "zzes"] where word.hasSuffix(ending) {
            return String(word.dropLast(2))
        }
        let isPlural = word.hasSuffix("s") && !["ss", "us", "is", "news"].contains(where: word.hasSuffix)
        return isPlural && word.count > 2 ? String(word.dropLast()) : word
    }
}

/// The names of the properties of one type, each once.
struct PropertyNames {
    private var used: Set<String> = ["id"]
    private let language: ClientLanguage

    init(_ language: ClientLanguage) { self.language = language }

    /// Returns the property's name for a name of the rules.
    mutating func property(for name: String) -> String {
        var property = Self.isPlain(name) ? name : Self.camel(name)
        while used.contains(property) || language.takenProperties.contains(property) { property += "_" }
        used.insert(property)
        return property
    }

    /// Private names are not those of an app, and Python changes those with two underscores.
    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(0x30...0x39).contains(first), !name.hasPrefix("_") else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
            default: false
            }
        }
    }

    private static func camel(_ name: String) -> String {
        let words = NameWords(name).words
        let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let camel = ((words.first ?? "") + rest.joined()).filter { $0.isLetter || $0.isNumber }
        return camel.first?.isLetter == true ? camel : "value" + camel
    }
}

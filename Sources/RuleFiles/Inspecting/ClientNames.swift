/// Gives out names that clients use, each once: of the groups and fields of a section, or of the sections of a file.
struct ClientNames {
    private static let reserved: Set<String> = ["id", "old", "new", "oldHash"]

    /// YAML wants a key on one line and in less than 1,024 characters.
    private static let longest = 60

    private var taken: Set<String> = []

    /// The name in camelCase, changed where it is reserved or taken.
    /// - Parameters:
    ///   - suffix: what a reserved name is followed by.
    ///   - fallback: the name where there is no letter or digit in it.
    mutating func take(_ name: String, suffix: String = "Value", fallback: String = "column") -> String {
        take(words: NameWords(name).words, suffix: suffix, fallback: fallback)
    }

    mutating func take(words: [String], suffix: String = "Value", fallback: String = "column") -> String {
        var wanted = String(Self.camelCase(words).prefix(Self.longest))
        if wanted.isEmpty { wanted = fallback }
        if Self.reserved.contains(wanted) { wanted += suffix }
        return insert(wanted, separator: "")
    }

    /// The name of a group of several, which gives way to the fields: they are what clients see.
    mutating func takeGroup(words: [String]) -> String {
        let plain = Self.camelCase(words)
        guard taken.contains(plain) else { return take(words: words, suffix: "Group", fallback: "group") }
        // A column has the name already, so the group is called after what it is.
        let fuller = words == ["address"] ? ["postal"] + words : words + ["details"]
        return take(words: fuller, suffix: "Group", fallback: "group")
    }

    /// The name of a resource, as it stands in URLs: lower-case letters and digits of ASCII, and hyphens.
    mutating func takeResource(_ name: String) -> String {
        let plain = NameWords(name).words.joined(separator: "-").unicodeScalars.map { scalar in
            ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
        }
        let wanted = String(plain).split(separator: "-").joined(separator: "-").prefix(Self.longest)
            .split(separator: "-").joined(separator: "-")
        return insert(wanted.isEmpty ? "table" : wanted, separator: "-")
    }

    private mutating func insert(_ wanted: String, separator: String) -> String {
        var name = wanted
        var number = 2
        while !taken.insert(name).inserted {
            name = wanted + separator + String(number)
            number += 1
        }
        return name
    }

    private static func camelCase(_ words: [String]) -> String {
        (words.first ?? "") + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}

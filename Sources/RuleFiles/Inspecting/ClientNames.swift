/// Assigns unique names for clients: for the groups and fields of a section, or for the sections of a file.
struct ClientNames {
    private static let reserved: Set<String> = ["id", "old", "new", "oldHash"]

    /// YAML needs a key on one line, with fewer than 1,024 characters.
    private static let longest = 60

    private var taken: Set<String> = []

    /// Returns the name in camelCase, with a suffix if it is reserved, and with a number if it is taken.
    mutating func take(_ name: String, suffix: String = "Value", fallback: String = "column") -> String {
        take(words: NameWords(name).words, suffix: suffix, fallback: fallback)
    }

    mutating func take(words: [String], suffix: String = "Value", fallback: String = "column") -> String {
        var wanted = String(Self.camelCase(words).prefix(Self.longest))
        if wanted.isEmpty { wanted = fallback }
        if Self.reserved.contains(wanted) { wanted += suffix }
        return insert(wanted, separator: "")
    }

    /// Returns the name of a group of several fields.
    ///
    /// If names collide, a field keeps its name, because clients use it.
    mutating func takeGroup(words: [String]) -> String {
        let plain = Self.camelCase(words)
        guard taken.contains(plain) else { return take(words: words, suffix: "Group", fallback: "group") }
        // A column already has the name, so the group gets a longer one.
        let fuller = words == ["address"] ? ["postal"] + words : words + ["details"]
        return take(words: fuller, suffix: "Group", fallback: "group")
    }

    /// Returns the name of a resource in URLs: lower-case ASCII letters, digits and hyphens.
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

extension ResourceView {
    /// Returns a text that is equal for two clients only if their rights are equal.
    ///
    /// - Parameter text: Writes a value unambiguously.
    package func canonical(_ text: (Value) -> String) -> String {
        var parts = ["resource", resource.name]
        for grant in grants {
            parts += ["role"]
            // Positions may mean other fields under other rules, so the text contains names.
            for (section, rights) in zip(resource.sections, grant.role.reads) where rights.isGiven {
                parts += ["section", section.name]
                for (shown, isRead) in zip(section.shown, rights.fields) where isRead { parts.append(shown.name) }
            }
            for (condition, test) in zip(grant.role.conditions, grant.tests) {
                let column = resource.root.columns[condition.column]
                parts += [column.name, Self.text(test, text)]
                if let step = column.lookup { parts += ["of", step.table.description, step.key.name] }
            }
        }
        return parts.map { "\($0.utf8.count):\($0)" }.joined()
    }

    private static func text(_ test: SettledTest, _ text: (Value) -> String) -> String {
        func joined(_ parts: [String]) -> String { parts.map { "\($0.utf8.count):\($0)" }.joined() }
        return switch test {
        case .never: "never"
        case .null: "null"
        case .oneOf(let values): "one" + joined(Set(values.map(text)).sorted())
        case .not(let denied): "not" + Self.text(denied, text)
        case .any(let tests): "any" + joined(tests.map { Self.text($0, text) })
        case .all(let tests): "all" + joined(tests.map { Self.text($0, text) })
        case .before(let value): "before" + text(value)
        case .after(let value): "after" + text(value)
        }
    }
}

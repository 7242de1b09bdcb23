extension RuleFileReader {
    /// Reads `{FIELD: {along: COLUMN, column: COLUMN OF THE REFERRED ROW}}`.
    mutating func readLookups(_ section: YAMLMapping, _ names: inout [String: Place]) -> [RuleLookup] {
        guard let lookups = section.mapping("lookups", &findings) else { return [] }
        if lookups.entries.isEmpty { findings.error(lookups.place, "“lookups” names no field") }
        var all: [RuleLookup] = []
        for (name, node) in lookups.entries {
            checkName(name, "field")
            checkUnique(name, &names)
            guard let lookup = YAMLMapping(node, file: file, what: "lookup “\(name.value)”", &findings) else {
                continue
            }
            lookup.refuseUnknown(["along", "column"], in: "a lookup", &findings)
            for key in ["along", "column"] where lookup[key] == nil {
                findings.error(
                    lookup.place,
                    "lookup “\(name.value)” has no “\(key)”; write “{along: COLUMN, column: COLUMN OF THE REFERRED ROW}”"
                )
            }
            guard let along = lookup.text("along", &findings), let column = lookup.text("column", &findings) else {
                continue
            }
            all.append(RuleLookup(name: name, along: along, column: column))
        }
        return all
    }
}

extension RuleFileReader {
    /// Refuses earlier names that could denote two groups, or two fields, of a section.
    mutating func refuseAmbiguousEarlierNames(of groups: [RuleGroup], besides readOnly: [RuleField]) {
        let fields = groups.flatMap(\.fields) + readOnly
        refuseAmbiguous(groups.map { ($0.name.value, $0.formerly) }, kind: "group")
        refuseAmbiguous(fields.map { ($0.name.value, $0.formerly) }, kind: "field")
    }

    private mutating func refuseAmbiguous(_ named: [(name: String, formerly: [Placed<String>])], kind: String) {
        var owners = Dictionary(named.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
        for (name, formerly) in named {
            for earlier in formerly {
                if let owner = owners[earlier.value] {
                    findings.error(
                        earlier.place,
                        "“\(earlier.value)” cannot be an earlier name of \(kind) “\(name)”, because it is a name of "
                            + "“\(owner)”")
                } else {
                    owners[earlier.value] = name
                }
            }
        }
    }
}

internal import Yams

extension RuleFileReader {
    /// Reads `{"true": …, "false": …}`, the stored values of a boolean.
    mutating func readValues(_ field: YAMLMapping, type: Placed<String>?) -> RuleBooleanCode? {
        guard let values = field.mapping("values", &findings) else { return nil }
        let place = field.place(of: "values")
        if type?.value != "boolean" { findings.error(place, "“values” belongs to “type: boolean”") }
        values.refuseUnknown(["true", "false"], in: "“values”", &findings)
        for key in ["true", "false"] where values[key] == nil {
            findings.error(values.place, "“values” has no “\(key)”; write “{\"true\": VALUE, \"false\": VALUE}”")
        }
        guard let yes = readStored("true", in: values), let no = readStored("false", in: values) else { return nil }
        return RuleBooleanCode(place: place, yes: yes, no: no)
    }

    private mutating func readStored(_ key: String, in values: YAMLMapping) -> Placed<RuleConstant>? {
        guard let node = values[key] else { return nil }
        let place = node.place(in: file)
        guard let constant = RuleConstant(node), node.null == nil else {
            findings.error(place, "“\(key)” of “values” is a constant; NULL is neither true nor false")
            return nil
        }
        return Placed(value: constant, place: place)
    }
}

package import MergeCore

/// The answer of `GET /v1/operations/rules`: each policy with the line that sets it.
package enum RulesTreeEncoder {
    /// A finding in the rule files.
    package struct Finding {
        let file: String
        let line: Int
        let column: Int
        let severity: String
        let sentence: String

        /// Bundles the parts of a finding.
        package init(file: String, line: Int, column: Int, severity: String, sentence: String) {
            self.file = file
            self.line = line
            self.column = column
            self.severity = severity
            self.sentence = sentence
        }
    }

    /// Returns all rules.
    ///
    /// - Parameter outOfService: the names of the resources whose tables do not fit.
    package static func encode(_ catalog: Catalog, outOfService: Set<String>, findings: [Finding]) -> [UInt8] {
        var writer = JSONWriter(capacity: 8_192)
        writer.object { writer in
            writer.member("version")
            writer.string(catalog.version)
            writer.member("resources")
            writer.array { writer in
                for resource in catalog.resources {
                    self.resource(resource, isInService: !outOfService.contains(resource.name), &writer)
                }
            }
            writer.member("findings")
            writer.array { writer in
                for finding in findings { self.finding(finding, to: &writer) }
            }
        }
        return writer.bytes
    }

    /// Writes findings as an array.
    package static func findings(_ findings: [Finding]) -> [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for finding in findings { self.finding(finding, to: &writer) }
        }
        return writer.bytes
    }

    private static func finding(_ finding: Finding, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("file")
            writer.string(finding.file)
            writer.member("line")
            writer.integer(finding.line)
            writer.member("column")
            writer.integer(finding.column)
            writer.member("severity")
            writer.string(finding.severity)
            writer.member("sentence")
            writer.string(finding.sentence)
        }
    }

    private static func resource(_ resource: Resource, isInService: Bool, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("resource")
            writer.string(resource.name)
            writer.member("description")
            if let description = resource.description { writer.string(description) } else { writer.null() }
            writer.member("isInService")
            writer.flag(isInService)
            writer.member("sections")
            writer.array { writer in
                for section in resource.sections { self.section(section, to: &writer) }
            }
        }
    }

    private static func section(_ section: Section, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("section")
            writer.string(section.name)
            writer.member("kind")
            writer.string(section.kind.rawValue)
            writer.member("table")
            writer.string(section.table.name)
            policy("onMissing", is: section.onMissing.value.rawValue, by: section.onMissing.rule, to: &writer)
            policy(
                "onDeleteConflict", is: section.onDeleteConflict.value.rawValue, by: section.onDeleteConflict.rule,
                to: &writer)
            rule("where", is: section.visibility?.rule, to: &writer)
            rule("frozenWhen", is: section.frozenWhen?.rule, to: &writer)
            rule("softDelete", is: section.softDelete?.rule, to: &writer)
            rule("identity", is: section.identity?.rule, to: &writer)
            writer.member("checks")
            writer.array { writer in
                for check in section.checks {
                    writer.object { writer in
                        writer.member("check")
                        writer.string(check.name)
                        policy("onFailure", is: check.onFailure.rawValue, by: check.rule, to: &writer)
                    }
                }
            }
            writer.member("groups")
            writer.array { writer in
                for group in section.groups { self.group(group, in: section, &writer) }
            }
            writer.member("readOnly")
            writer.array { writer in
                for field in section.readOnly { writer.string(field.name) }
            }
        }
    }

    private static func group(_ group: Group, in section: Section, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("group")
            writer.string(group.name)
            writer.member("fields")
            writer.array { writer in
                for field in section.fields[group.fields] { writer.string(field.name) }
            }
            writer.member("private")
            writer.flag(section.fields[group.fields].contains(where: \.isPrivate))
            policy("onConflict", is: group.onConflict.value.rawValue, by: group.onConflict.rule, to: &writer)
            if let merge = group.merge {
                writer.member("merge")
                writer.object { writer in
                    writer.member("value")
                    RulesEncoder.value(of: merge.value, of: group, in: section, to: &writer)
                    writer.member("rule")
                    writer.string(merge.rule.text)
                }
            }
            rule("transitions", is: group.transitions?.rule, to: &writer)
        }
    }

    private static func policy(
        _ name: StaticString, is value: String, by rule: RuleReference, to writer: inout JSONWriter
    ) {
        writer.member(name)
        writer.object { writer in
            writer.member("value")
            writer.string(value)
            writer.member("rule")
            writer.string(rule.text)
        }
    }

    /// Writes the line of a rule without its text, which is the operator's SQL; nothing without a rule.
    private static func rule(_ name: StaticString, is rule: RuleReference?, to writer: inout JSONWriter) {
        guard let rule else { return }
        writer.member(name)
        writer.object { writer in
            writer.member("rule")
            writer.string(rule.text)
        }
    }
}

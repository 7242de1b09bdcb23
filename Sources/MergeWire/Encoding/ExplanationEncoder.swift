package import MergeCore

/// Explanations as JSON.
package enum ExplanationEncoder {
    /// Returns a complete explanation for programs.
    package static func encode(_ explanation: Explanation) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 * (explanation.outcomes.count + 1))
        writer.object { writer in
            writer.member("resource")
            writer.string(explanation.resource.name)
            writer.member("status")
            writer.string(explanation.status.rawValue)
            writer.member("groups")
            writer.array { writer in
                for explained in explanation.outcomes { write(explained, of: explanation.resource, to: &writer) }
            }
            let open = explanation.sectionsWithOpenGuards
            if open.isEmpty { return }
            writer.member("unevaluated")
            writer.array { writer in
                for (section, rule) in open {
                    writer.object { writer in
                        writer.member("section")
                        writer.string(section.name)
                        writer.member("condition")
                        writer.string(GuardKind.frozen.rawValue)
                        writer.member("rule")
                        writer.string(rule.text)
                    }
                }
            }
        }
        return writer.bytes
    }

    private static func write(_ explained: ExplainedOutcome, of resource: Resource, to writer: inout JSONWriter) {
        let outcome = explained.outcome
        let section = resource.sections[outcome.section]
        writer.object { writer in
            ResultEncoder.place(outcome, in: section, to: &writer)
            for (name, side) in sides(outcome) {
                writer.name(name)
                ResultEncoder.side(side, in: section, group: outcome.group, to: &writer)
            }
            writer.member("outcome")
            writer.string(outcome.kind.rawValue)
            writer.member("conflict")
            writer.flag(outcome.isConflict)
            writer.member("rule")
            writer.string(outcome.rule.text)
            writer.member("why")
            writer.string(explained.why)
            if !outcome.parts.isEmpty { ResultEncoder.parts(outcome.parts, &writer) }
            if let fallback = outcome.fallback {
                writer.member("fallback")
                writer.string(fallback)
            }
        }
    }

    private static func sides(_ outcome: Outcome) -> [(name: String, side: Shown)] {
        [
            ("base", outcome.sides?.base ?? .null), ("current", outcome.sides?.current ?? .null),
            ("edited", outcome.sides?.edited ?? .null), ("result", outcome.sides?.written ?? .null),
        ]
    }

    /// Returns one row of an explanation for users, without rule and reason.
    package static func cells(_ explained: ExplainedOutcome, _ resource: Resource) -> ExplanationCells {
        let outcome = explained.outcome
        let section = resource.sections[outcome.section]
        let values = sides(outcome).map { _, side in
            text { ResultEncoder.side(side, in: section, group: outcome.group, to: &$0) }
        }
        return ExplanationCells(
            section: section.name, id: outcome.item.map { item in text { $0.label(item, section) } } ?? "",
            group: outcome.group.map { section.groups[$0].name } ?? "", base: values[0], current: values[1],
            edited: values[2], result: values[3])
    }

    private static func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

import MergeCore

/// Rehearsals as JSON.
package enum RehearsalEncoder {
    /// Returns a complete rehearsal for programs.
    ///
    /// - Parameter isComplete: false if the report lacks entries; nil if it cannot.
    package static func encode(_ report: RehearsalReport, isComplete: Bool? = nil) -> [UInt8] {
        var writer = JSONWriter(capacity: 4_096)
        writer.object { writer in
            if let isComplete {
                writer.member("isComplete")
                writer.flag(isComplete)
            }
            for (name, count) in [
                ("entries", report.entries), ("outcomes", report.outcomes), ("same", report.same),
                ("different", report.different),
            ] {
                writer.name(name)
                writer.integer(count)
            }
            writer.member("differences")
            writer.array { writer in
                for (change, count) in report.ordered { write(change, count, to: &writer) }
            }
            writer.member("unjudged")
            writer.array { writer in
                for (obstacle, count) in report.orderedObstacles {
                    writer.object { writer in
                        writer.member("resource")
                        writer.string(obstacle.resource)
                        writer.member("reason")
                        writer.string(obstacle.reason.sentence + ".")
                        writer.member("count")
                        writer.integer(count)
                    }
                }
            }
            writer.member("examples")
            writer.array { writer in
                for example in report.examples { write(example, to: &writer) }
            }
        }
        return writer.bytes
    }

    private static func write(_ change: RehearsalReport.Change, _ count: Int, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("resource")
            writer.string(change.resource)
            writer.member("section")
            writer.string(change.section)
            if let group = change.group {
                writer.member("group")
                writer.string(group)
            }
            for (name, kinds) in [("underActive", change.active), ("underNew", change.new)] {
                writer.name(name)
                writer.array { writer in
                    for kind in kinds { writer.string(kind.rawValue) }
                }
            }
            writer.member("count")
            writer.integer(count)
        }
    }

    private static func write(_ example: RehearsalExample, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("entry")
            writer.integer(example.entry)
            writer.member("at")
            writer.string(example.at.text(separator: "T", fraction: 6) + "Z")
            writer.member("resource")
            writer.string(example.resource)
            writer.member("record")
            writer.string(example.record)
            writer.member("section")
            writer.string(example.outcome.section)
            for (name, text) in [("item", example.outcome.item), ("group", example.outcome.group)] {
                guard let text else { continue }
                writer.name(name)
                writer.string(text)
            }
            for (name, json) in [
                ("old", example.outcome.old), ("current", example.outcome.current), ("new", example.outcome.new),
            ] {
                guard let json else { continue }
                writer.name(name)
                writer.raw(json)
            }
            writer.member("underActive")
            write(example.difference.active, in: example.sections.active, to: &writer)
            writer.member("underNew")
            write(example.difference.new, in: example.sections.new, to: &writer)
        }
    }

    private static func write(_ decision: RehearsedDecision, in section: Section, to writer: inout JSONWriter) {
        writer.array { writer in
            for explained in decision.explained {
                let outcome = explained.outcome
                writer.object { writer in
                    if let group = outcome.group {
                        writer.member("group")
                        writer.string(section.groups[group].name)
                    }
                    writer.member("outcome")
                    writer.string(outcome.kind.rawValue)
                    writer.member("rule")
                    writer.string(outcome.rule.text)
                    // A whole row has only the fields that the decision needs.
                    if let group = outcome.group, let sides = outcome.sides {
                        writer.member("written")
                        ResultEncoder.side(sides.written, in: section, group: group, to: &writer)
                    }
                    writer.member("why")
                    writer.string(explained.why)
                }
            }
        }
    }
}

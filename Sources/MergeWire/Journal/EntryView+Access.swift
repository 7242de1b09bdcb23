package import MergeCore

/// Entries for operators that may not read everything.
extension EntryView {
    /// Returns the JSON of an entry with only the values that a client may read.
    ///
    /// If the resource no longer exists (nil), the result contains no values.
    package static func shown(_ entry: [UInt8], of resource: Resource?, to viewer: Viewer) -> [UInt8] {
        let view = resource.flatMap { viewer.view(of: $0) }
        if resource != nil, view == nil || view?.seesEverything == true { return shown(entry) }
        let filtered = JSONDocument.stored(entry) { root in
            var writer = JSONWriter(capacity: entry.count)
            writer.object { writer in
                for (name, value) in root.members where name.string != "conditions" {
                    writer.name(name.string)
                    // The sentence of a problem may name fields that the client may not read.
                    if name.string == "problem" {
                        problem(value, to: &writer)
                        continue
                    }
                    guard name.string == "outcomes" else {
                        writer.raw(value.text)
                        continue
                    }
                    outcomes(value, of: resource, seenAs: view.flatMap { sight(of: root, $0) }, to: &writer)
                }
            }
            return writer.bytes
        }
        // An unreadable entry is not shown either.
        return shown(filtered ?? Array("{}".utf8))
    }

    /// Returns true if a client may read all values of an entry under the current rules.
    package static func isReadable(_ entry: [UInt8], of resource: Resource, by viewer: Viewer) -> Bool {
        guard let view = viewer.view(of: resource), !view.seesEverything else { return true }
        let isReadable = JSONDocument.stored(entry) { root in
            guard let sight = sight(of: root, view) else { return false }
            return (root["outcomes"]?.elements ?? []).allSatisfy { outcome in
                guard let place = outcome["section"]?.string.flatMap({ resource.section(named: $0) }) else {
                    return false
                }
                guard let name = outcome["group"]?.string else { return sight.sections[place].isAll }
                let section = resource.sections[place]
                return section.group(named: name).map {
                    sight.reads(group: section.groups[$0], in: place)
                } ?? false
            }
        }
        return isReadable ?? false
    }

    private static func problem(_ node: JSONNode, to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, source) in [
                ("type", "type"), ("title", "title"), ("status", "status"), ("detail", "title"), ("code", "code"),
            ] {
                guard let value = node[source] else { continue }
                writer.name(name)
                writer.raw(value.text)
            }
        }
    }

    private static func outcomes(
        _ node: JSONNode, of resource: Resource?, seenAs sight: RecordSight?, to writer: inout JSONWriter
    ) {
        writer.array { writer in
            for outcome in node.elements {
                if let resource {
                    ReplayFilter.outcome(outcome, of: resource, seenAs: sight, to: &writer)
                } else {
                    writer.object { writer in
                        for name in ["section", "group", "outcome", "rule", "conflict"] {
                            guard let value = outcome[name] else { continue }
                            writer.name(name)
                            writer.raw(value.text)
                        }
                    }
                }
            }
        }
    }

    /// Returns the parts of the record that a client may read, or nil if the earlier record is unknown.
    private static func sight(of entry: JSONNode, _ view: ResourceView) -> RecordSight? {
        guard let tuples = EntryReader.conditions(of: entry, view.resource) else {
            return view.seesEveryRow ? view.sightOfEveryRow : nil
        }
        return tuples.map { view.sight(view.grants(onConditions: $0.values)) }
            .reduce(view.widestSight) { $0.intersection($1) }
    }
}

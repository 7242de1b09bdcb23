internal import Crypto
package import MergeCore

/// Replaces the values of private fields by keyed digests in the journal's bodies and answers.
package struct PrivateValues: Sendable {
    private let secret: [UInt8]

    /// Creates a replacer with the journal's own random key.
    package init(secret: [UInt8]) {
        self.secret = secret
    }

    /// Returns an answer in its stored form, or nil if it cannot be read and may contain private values.
    package func answer(_ body: [UInt8], _ catalog: Catalog) -> [UInt8]? {
        guard catalog.hasPrivateFields else { return body }
        return rewritten(body) { root, writer in PrivateWriter(secret, catalog).answer(root, &writer) }
    }

    /// Returns a refused push, sent to the path `address`, in its stored form.
    ///
    /// The member `private` names the fields with private values. Such a push cannot be sent again. A push that cannot
    /// be read is not stored at all.
    package func refusedBody(_ body: [UInt8], address: String, under catalog: Catalog) -> [UInt8] {
        guard catalog.hasPrivateFields else { return body }
        let resource = Self.resource(of: address, catalog)
        return rewritten(body) { root, writer in
            PrivateWriter(secret, catalog).push(root, resource, to: &writer)
        } ?? Array(#"{"private":["*"]}"#.utf8)
    }

    /// Restores the private values of a stored answer, if they are still available.
    ///
    /// They come from the body of the repeated push and from the current records. A record with a missing value is
    /// replaced by the current record, or by null if that is gone or unreadable.
    package func revealed(
        _ body: [UInt8], request: [UInt8], address: String, records: [(resource: Resource, record: [UInt8])],
        under catalog: Catalog
    ) -> [UInt8] {
        var known: [String: String] = [:]
        func look(_ body: [UInt8], _ walk: (PrivateWriter, JSONNode, inout JSONWriter) -> Void) {
            _ = rewritten(body) { root, writer in
                let walker = PrivateWriter(secret, catalog)
                walk(walker, root, &writer)
                known.merge(walker.seen) { $1 }
                return false
            }
        }
        let resource = Self.resource(of: address, catalog)
        look(request) { _ = $0.push($1, resource, to: &$2) }
        var standing: [ExactText: String] = [:]
        for (resource, record) in records {
            look(record) { walker, root, writer in
                walker.record(root, resource, to: &writer)
                standing[PrivateWriter.name(resource, root)] = root.text
            }
        }
        let revealed = rewritten(body) { root, writer in
            PrivateWriter(secret, catalog, known: known, standing: standing).answer(root, &writer)
        }
        // If the answer cannot be read, its values stay digests.
        return revealed ?? body
    }

    /// Returns the records of an answer that contains digests, or nil if it contains no digest.
    package static func records(in answer: [UInt8], _ catalog: Catalog) -> [(resource: Resource, key: RecordKey)]? {
        guard catalog.hasPrivateFields, answer.firstRange(of: Array(PrivateWriter.mark.utf8)) != nil else { return nil }
        let found = JSONDocument.stored(answer) { root in
            (root["results"]?.elements ?? [root]).compactMap { node -> (resource: Resource, key: RecordKey)? in
                guard let resource = node["resource"]?.string.flatMap({ catalog[$0] }), resource.hasPrivateFields,
                    let key = node.recordKey(of: resource)
                else { return nil }
                return (resource, key)
            }
        }
        return found ?? []
    }

    private static func resource(of address: String, _ catalog: Catalog) -> Resource? {
        let parts = address.utf8.split(separator: UInt8(ascii: "/"))
        return parts.count == 3 ? catalog[String(Substring(parts[2]))] : nil
    }

    /// Returns true if a body contains the digest of a private value.
    package static func hasDigest(_ body: [UInt8]) -> Bool {
        body.firstRange(of: Array(("\"" + PrivateWriter.mark).utf8)) != nil
    }

    /// Returns the names of the fields whose values a stored push lacks, or `*` if the push cannot be read.
    package static func missing(in body: [UInt8]) -> [String] {
        let names = JSONDocument.stored(body) { root in
            root["private"]?.elements.compactMap(\.string) ?? []
        }
        return names ?? ["*"]
    }

    /// Returns a body with replaced values, the body itself without any, or nil if it cannot be read.
    private func rewritten(_ body: [UInt8], _ write: (JSONNode, inout JSONWriter) -> Bool) -> [UInt8]? {
        JSONDocument.stored(body) { root in
            var writer = JSONWriter(capacity: body.count + 128)
            return write(root, &writer) ? writer.bytes : body
        }
    }
}

/// One traversal of a push or an answer.
private final class PrivateWriter {
    private let secret: SymmetricKey
    private let catalog: Catalog
    /// The values by digest if digests are replaced by values, or nil for the opposite direction.
    private let known: [String: String]?
    private var hidden: [String] = []
    /// The replaced values by digest.
    private(set) var seen: [String: String] = [:]

    /// The current records by name.
    private let standing: [ExactText: String]
    /// True if a digest was found whose value is unknown.
    private var isLost = false

    static let mark = "hmac-sha256:"

    /// Returns the name of a record: its resource and the text of its id.
    static func name(_ resource: Resource, _ record: JSONNode) -> ExactText {
        ExactText(resource.name + " " + (record["id"]?.text ?? ""))
    }

    init(
        _ secret: [UInt8], _ catalog: Catalog, known: [String: String]? = nil, standing: [ExactText: String] = [:]
    ) {
        self.standing = standing
        self.secret = SymmetricKey(data: secret)
        self.catalog = catalog
        self.known = known
    }

    /// Returns true if a value was replaced.
    func answer(_ root: JSONNode, _ writer: inout JSONWriter) -> Bool {
        if root["results"] == nil {
            result(root, to: &writer)
        } else {
            members(of: root, &writer) { name, value, writer in
                guard name == "results" else { return false }
                writer.array { writer in
                    for node in value.elements { self.result(node, to: &writer) }
                }
                return true
            }
        }
        return !hidden.isEmpty
    }

    private func result(_ node: JSONNode, to writer: inout JSONWriter) {
        guard let resource = node["resource"]?.string.flatMap({ catalog[$0] }), resource.hasPrivateFields else {
            return writer.raw(node.text)
        }
        members(of: node, &writer) { name, value, writer in
            switch name {
            case "record" where value.isObject: self.told(value, of: resource, to: &writer)
            case "outcomes":
                writer.array { writer in
                    for outcome in value.elements { self.outcome(outcome, of: resource, to: &writer) }
                }
            default: return false
            }
            return true
        }
    }

    /// Writes the record of a result, or the current record if a value is missing, or null if there is none.
    private func told(_ node: JSONNode, of resource: Resource, to writer: inout JSONWriter) {
        var whole = JSONWriter(capacity: 512)
        isLost = false
        record(node, resource, to: &whole)
        let isKept = known == nil || !isLost
        writer.raw(
            isKept ? String(decoding: whole.bytes, as: UTF8.self) : standing[Self.name(resource, node)] ?? "null")
    }

    func record(_ node: JSONNode, _ resource: Resource, to writer: inout JSONWriter) {
        members(of: node, &writer) { name, value, writer in
            guard let index = resource.section(named: name) else { return false }
            let section = resource.sections[index]
            if value.isArray {
                writer.array { writer in
                    for row in value.elements { self.row(row, of: section, to: &writer) }
                }
            } else {
                self.row(value, of: section, to: &writer)
            }
            return true
        }
    }

    private func outcome(_ node: JSONNode, of resource: Resource, to writer: inout JSONWriter) {
        guard let index = node["section"]?.string.flatMap({ resource.section(named: $0) }) else {
            return writer.raw(node.text)
        }
        let section = resource.sections[index]
        let group = node["group"]?.string.flatMap { section.group(named: $0) }
        let isPrivate = group.map { section.fields[section.groups[$0].fields].contains(where: \.isPrivate) } ?? false
        members(of: node, &writer) { name, value, writer in
            switch name {
            case "old", "current", "new", "written": self.side(value, of: group, in: section, to: &writer)
            // Both could reveal the value without the journal's secret.
            case "parts" where isPrivate: writer.array { _ in }
            case "oldHash" where isPrivate: self.digest(value, to: &writer)
            default: return false
            }
            return true
        }
    }

    /// Returns true if a value was replaced.
    func push(_ root: JSONNode, _ resource: Resource?, to writer: inout JSONWriter) -> Bool {
        writer.begin(UInt8(ascii: "{"))
        for (name, value) in root.members {
            writer.name(name.string)
            switch name.string {
            case "edits" where value.isArray:
                writer.array { writer in
                    for edit in value.elements { self.edit(edit, to: &writer) }
                }
            case "changeset": changeset(value, resource: resource, to: &writer)
            default: writer.raw(value.text)
            }
        }
        if !hidden.isEmpty {
            writer.member("private")
            writer.array { writer in
                for name in hidden { writer.string(name) }
            }
        }
        writer.end(UInt8(ascii: "}"))
        return !hidden.isEmpty
    }

    private func edit(_ node: JSONNode, to writer: inout JSONWriter) {
        let resource = node["resource"]?.string.flatMap { catalog[$0] }
        members(of: node, &writer) { name, value, writer in
            guard name == "changeset" else { return false }
            self.changeset(value, resource: resource, to: &writer)
            return true
        }
    }

    private func changeset(_ node: JSONNode, resource: Resource?, to writer: inout JSONWriter) {
        guard let resource, resource.hasPrivateFields else { return writer.raw(node.text) }
        members(of: node, &writer) { name, value, writer in
            guard let index = resource.section(named: name) else { return false }
            let section = resource.sections[index]
            if value.isArray {
                writer.array { writer in
                    for item in value.elements { self.change(item, of: section, to: &writer) }
                }
            } else {
                self.change(value, of: section, to: &writer)
            }
            return true
        }
    }

    private func change(_ node: JSONNode, of section: Section, to writer: inout JSONWriter) {
        members(of: node, &writer) { name, value, writer in
            if name == "old" || name == "new" {
                self.row(value, of: section, to: &writer)
                return true
            }
            guard let group = section.group(named: name) else { return false }
            self.members(of: value, &writer) { name, value, writer in
                if name == "oldHash" {
                    guard section.fields[section.groups[group].fields].contains(where: \.isPrivate) else {
                        return false
                    }
                    self.digest(value, to: &writer)
                } else {
                    self.side(value, of: group, in: section, to: &writer)
                }
                return true
            }
            return true
        }
    }

    private func side(_ node: JSONNode, of group: Int?, in section: Section, to writer: inout JSONWriter) {
        if let group, section.groups[group].isBare, let field = section.groups[group].fields.first {
            return value(node, field: section.fields[field], to: &writer)
        }
        row(node, of: section, to: &writer)
    }

    private func row(_ node: JSONNode, of section: Section, to writer: inout JSONWriter) {
        guard node.isObject else { return writer.raw(node.text) }
        members(of: node, &writer) { name, value, writer in
            let field =
                section.field(named: name).map { section.fields[$0] }
                ?? section.readOnlyField(named: name).map { section.readOnly[$0] }
            guard let field else { return false }
            self.value(value, field: field, to: &writer)
            return true
        }
    }

    private func value(_ node: JSONNode, field: Field, to writer: inout JSONWriter) {
        guard field.isPrivate, !node.isNull else { return writer.raw(node.text) }
        if !hidden.contains(field.name) { hidden.append(field.name) }
        digest(node, to: &writer)
    }

    private func digest(_ node: JSONNode, to writer: inout JSONWriter) {
        let text = node.text
        if let known {
            let value = node.string.flatMap { known[$0] }
            if value == nil { isLost = true }
            return writer.raw(value ?? text)
        }
        let code = HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: secret)
        let digest = Self.mark + ResultEncoder.hex(Array(code))
        seen[digest] = text
        writer.string(digest)
    }

    /// Writes the members of an object, unchanged if `write` returns false.
    private func members(
        of node: JSONNode, _ writer: inout JSONWriter, write: (String, JSONNode, inout JSONWriter) -> Bool
    ) {
        guard node.isObject else { return writer.raw(node.text) }
        writer.object { writer in
            for (name, value) in node.members {
                writer.name(name.string)
                if !write(name.string, value, &writer) { writer.raw(value.text) }
            }
        }
    }
}

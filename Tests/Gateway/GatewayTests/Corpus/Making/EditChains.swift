import TestSupport

/// Makes rows of requests that build on each other, about one record of a resource.
struct EditChains {
    let forms: EditForms
    /// The record's id, as JSON.
    let id: String
    /// Names keys and temporary ids apart.
    let name: String

    private var resource: String { forms.resource.name }
    private var root: SectionShape { forms.resource.root }
    private var held: JSON? { forms.record[root.name] }

    /// - Returns: chains of requests. Each chain has to be sent in its order.
    func all(_ dice: inout Dice) -> [[CorpusRequest]] {
        [created(&dice), deleted(&dice), recognised(&dice), read(), spelled()] + refused(&dice) + keyed(&dice)
    }

    // MARK: Parts

    private func edit(_ id: String?, _ changeset: String) -> String {
        #"{"resource":"\#(resource)",\#(id.map { #""id":\#($0),"# } ?? "")"changeset":{\#(changeset)}}"#
    }

    private func push(_ label: String, _ edits: [String], each: Bool = false, key: String? = nil) -> CorpusRequest {
        let members = (key.map { #""key":"\#($0)","# } ?? "") + (each ? #""atomic":"edit","# : "")
        return CorpusRequest(
            "chain: " + label, .post, "/v1/push", #"{\#(members)"edits":[\#(edits.joined(separator: ","))]}"#)
    }

    private func preview(_ request: CorpusRequest) -> CorpusRequest {
        var request = request
        request.label += " preview"
        request.target += "?preview=true"
        return request
    }

    private func creation(_ id: String?, _ dice: inout Dice) -> String {
        edit(id, #""\#(root.name)":{"old":null,"new":\#(forms.row(root, nil, &dice))}"#)
    }

    private func change(_ id: String, _ dice: inout Dice) -> String {
        let old = forms.row(root, held, &dice)
        return edit(id, #""\#(root.name)":{"old":\#(old),"new":\#(forms.row(root, held, &dice, changing: 50))}"#)
    }

    private func deletion(_ id: String) -> String { edit(id, #""\#(root.name)":{"old":{},"new":null}"#) }

    private var address: String { "/v1/records/\(resource)/\(RequestMaker.urlText(id))" }

    // MARK: Chains

    /// A record that is created, changed and deleted by its temporary id, in one push and in several.
    private func created(_ dice: inout Dice) -> [CorpusRequest] {
        let new = "\"tmp:\(name)\""
        let all = [creation(new, &dice), change(new, &dice), deletion(new)]
        var lists: [String] = []
        for section in forms.resource.sections.dropFirst() {
            let row = forms.row(section, nil, &dice)
            let one = #"{"old":null,"new":\#(row)}"#
            lists.append("\"\(section.name)\":" + (section.kind == "list" ? "[\(one)]" : one))
        }
        let root = #""\#(root.name)":{"old":null,"new":\#(forms.row(root, held, &dice, changing: 80))}"#
        return [
            preview(push("created, changed, deleted", all)), push("created, changed, deleted", all),
            push("created, changed, deleted", all, each: true), push("changed before it is created", [all[1], all[0]]),
            push("created and changed", Array(all.prefix(2)), each: true),
            push("created twice", [all[0], creation("-7", &dice)]),
            push("created without an id", [creation(nil, &dice)]),
            push("created with a key", [creation("64", &dice)]),
            push("created with all sections", [edit(new, ([root] + lists).joined(separator: ","))]),
        ]
    }

    private func deleted(_ dice: inout Dice) -> [CorpusRequest] {
        [
            preview(push("deleted", [deletion(id)])), push("deleted and created", [deletion(id), creation(id, &dice)]),
            push("deleted", [deletion(id), deletion(id)]), CorpusRequest("chain: read", .get, address),
            CorpusRequest("chain: read", .head, address), push("changed when deleted", [change(id, &dice)]),
            push("deleted again", [deletion(id)], each: true), push("created again", [creation(id, &dice)]),
            CorpusRequest("chain: read", .get, address),
        ]
    }

    /// A creation of a record that exists.
    private func recognised(_ dice: inout Dice) -> [CorpusRequest] {
        let same = #""\#(root.name)":{"old":null,"new":\#(forms.row(root, held, &dice))}"#
        let near = #""\#(root.name)":{"old":null,"new":\#(forms.row(root, held, &dice, changing: 30))}"#
        let ids = ["\"tmp:\(name)a\"", "\"tmp:\(name)b\""]
        return [
            push("created though it is there", [edit(ids[0], same)]),
            push("created though it is there", [edit(ids[0], near), edit(ids[1], same)], each: true),
            push("created though it is there", [edit(ids[0], near), change(ids[0], &dice)]),
            push("created though it is there", [edit(id, near)]),
        ]
    }

    private func read() -> [CorpusRequest] {
        var requests = [CorpusRequest("chain: read", .get, address)]
        for tag in ["*", "\"none\"", "W/\"none\", \"e1\"", "none"] {
            var request = CorpusRequest("chain: read with a tag", tag == "*" ? .head : .get, address)
            request.headers = [("If-None-Match", tag)]
            requests.append(request)
        }
        return requests + [CorpusRequest("chain: read", .get, address + "?limit=1")]
    }

    /// The record's id as it may be spelled, rightly and wrongly.
    private func spelled() -> [CorpusRequest] {
        let plain = id.hasPrefix("\"") ? String(id.dropFirst().dropLast()) : id
        let ids = [
            "\"\(plain)\"", "[\(id)]", "[[\(id)]]", "\" \(plain)\"", "\"0\(plain)\"",
            "\(plain.count < 3 ? plain : "1").0",
            "\"\(plain)\\u0000\"", "\"tmp:\"", "\"tmp:e\\u0301\"", "\"TMP:x\"", "9223372036854775808", "-0", "\"-3\"",
        ]
        return ids.filter { (try? JSON($0)) != nil }.map {
            push("an id as \($0)", [edit($0, #""\#(root.name)":{}"#)])
        }
    }

    /// A push with one impossible edit, at each position and in each atomicity.
    private func refused(_ dice: inout Dice) -> [[CorpusRequest]] {
        let field = root.groups.flatMap(\.fields).first { $0.references != nil }
        let bad =
            field.map { edit("\"tmp:\(name)r\"", #""\#(root.name)":{"old":null,"new":{"\#($0.name)":7654}}"#) }
            ?? edit("7654", #""\#(root.name)":{"old":null,"new":{}}"#)
        let good = change(id, &dice)
        let new = creation("\"tmp:\(name)n\"", &dice)
        return [[bad, good, new], [good, bad, new], [new, good, bad], [bad, bad]].map { edits in
            let one = push("one is refused", edits)
            return [preview(one), one, push("one is refused", edits, each: true), push("again", edits, each: true)]
        }
    }

    /// A push with a key that is sent again, as it was and otherwise.
    private func keyed(_ dice: inout Dice) -> [[CorpusRequest]] {
        let edits = [change(id, &dice)]
        let key = "chain-\(name)"
        let first = push("with a key", edits, key: key)
        var elsewhere = first
        elsewhere.headers = [("X-Device-ID", "other")]
        var header = push("the key in a header", edits)
        header.headers = [("Idempotency-Key", key)]
        var both = first
        both.headers = [("Idempotency-Key", key)]
        var quoted = push("the key in quotes", edits)
        quoted.headers = [("Idempotency-Key", "\"\(key)\"")]
        let other = push("with the key of another", [deletion(id)], key: key)
        let refused = push(
            "refused with a key", [edit("7655", #""\#(root.name)":{"old":null,"new":{}}"#)], key: key + "r")
        return [
            [
                preview(first), first, first, elsewhere, header, both, quoted,
                push("with a key", edits, each: true, key: key),
            ]
                + [other, preview(other), push("without the key", edits)],
            [refused, refused, push("refused before, with its key", edits, key: key + "r")],
        ]
    }
}

import TestSupport

/// Makes requests that are wrong in one way each.
struct WrongRequestMaker {
    let resource: ResourceShape
    /// The id of an existing record.
    let id: String

    private var section: String { resource.root.name }
    private var group: GroupShape? { resource.root.groups.first { $0.fields.count == 1 } ?? resource.root.groups.first }
    private var field: String { group?.name ?? "x" }

    /// Every way in which a request can be wrong.
    var all: [CorpusRequest] { bodies + envelopes + changes + temporaries + addresses + queries + types + sizes }

    // MARK: Bodies

    private func push(_ label: String, _ body: String) -> CorpusRequest {
        CorpusRequest("bad: " + label, .post, "/v1/push", body)
    }

    private func edit(_ label: String, _ changeset: String, id: String? = nil) -> CorpusRequest {
        push(label, #"{"edits":[{"resource":"\#(resource.name)","id":\#(id ?? self.id),"changeset":\#(changeset)}]}"#)
    }

    private var bodies: [CorpusRequest] {
        var garbled = push("bytes that are no text", "")
        garbled.body = Array(#"{"key":""#.utf8) + [0xFF, 0xC3] + Array(#"","edits":[]}"#.utf8)
        var nul = push("a raw NUL", "")
        nul.body =
            Array(#"{"edits":[{"resource":"\#(resource.name)","id":1"#.utf8) + [0] + Array(#","changeset":{}}]}"#.utf8)
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        return [
            garbled, nul, push("cut off", #"{"edits":[{"resource":"#), push("an empty body", " "),
            push("an array", "[]"), push("a text", #""push""#), push("null", "null"),
            push("a member twice", #"{"edits":[],"edits":[]}"#), push("a word", "{edits:[]}"),
            push("something behind", #"{"edits":[]} x"#), push("nested too deeply", #"{"edits":\#(deep)}"#),
            edit("a member twice", #"{"\#(section)":{"\#(field)":{"old":1,"new":2,"new":3}}}"#),
            edit("a number that is too large", #"{"\#(section)":{"\#(field)":{"old":1e99999,"new":1}}}"#),
            push("half a surrogate", #"{"key":"\uD800","edits":[]}"#),
        ]
    }

    private var envelopes: [CorpusRequest] {
        var contradicted = push("another key in the header", #"{"key":"one","edits":[]}"#)
        contradicted.headers = [("Idempotency-Key", "other")]
        var merge = CorpusRequest("bad: another resource", .post, "/v1/merge/\(resource.name)", nil)
        merge.body = Array(#"{"resource":"else","id":1,"changeset":{}}"#.utf8)
        var device = push("a long device", #"{"edits":[]}"#)
        device.headers = [("X-Device-ID", String(repeating: "d", count: 256))]
        return [
            contradicted, merge, device, push("no edits", "{}"), push("edits of an object", #"{"edits":{}}"#),
            push("an unknown member", #"{"edits":[],"edit":[]}"#), push("a number as key", #"{"key":7,"edits":[]}"#),
            push("an empty key", #"{"key":"","edits":[]}"#),
            push("a long key", #"{"key":"\#(String(repeating: "k", count: 256))","edits":[]}"#),
            push("unknown rules", #"{"rules":"nothing","edits":[]}"#), push("no rules", #"{"rules":null,"edits":[]}"#),
            push("an unknown atomicity", #"{"atomic":"all","edits":[]}"#),
            push("an edit of a number", #"{"edits":[1]}"#),
            push("no resource", #"{"edits":[{"id":1,"changeset":{}}]}"#),
            push("a number as resource", #"{"edits":[{"resource":1,"changeset":{}}]}"#),
            push("an unknown resource", #"{"edits":[{"resource":"\#(resource.name)s","id":1,"changeset":{}}]}"#),
            push("no changeset", #"{"edits":[{"resource":"\#(resource.name)","id":1}]}"#),
            push(
                "an unknown member of an edit", #"{"edits":[{"resource":"\#(resource.name)","ID":1,"changeset":{}}]}"#),
            edit("a changeset of null", "null"), edit("a changeset of an array", "[]"),
            push("the right rules", #"{"rules":"{version}","edits":[]}"#), push("nothing", #"{"edits":[]}"#),
            edit("nothing", "{}"), edit("an empty section", #"{"\#(section)":{}}"#),
        ]
    }

    private var changes: [CorpusRequest] {
        var made = [
            edit("an unknown section", #"{"\#(section)x":{}}"#), edit("a section of a number", #"{"\#(section)":5}"#),
            edit("an unknown group", #"{"\#(section)":{"\#(field)z":{"old":1,"new":2}}}"#),
            edit("a group of a number", #"{"\#(section)":{"\#(field)":2}}"#),
            edit("no new", #"{"\#(section)":{"\#(field)":{"old":1}}}"#),
            edit("no old", #"{"\#(section)":{"\#(field)":{"new":1}}}"#),
            edit("two bases", #"{"\#(section)":{"\#(field)":{"old":1,"oldHash":"sha256:00","new":1}}}"#),
            edit("a short hash", #"{"\#(section)":{"\#(field)":{"oldHash":"sha256:00","new":1}}}"#),
            edit("both null", #"{"\#(section)":{"old":null,"new":null}}"#),
            edit("half a row", #"{"\#(section)":{"old":{}}}"#),
            edit("a row of a number", #"{"\#(section)":{"old":{},"new":1}}"#),
            edit("both forms", #"{"\#(section)":{"old":{},"new":{},"\#(field)":{"old":1,"new":2}}}"#),
            edit("a hash beside a row", #"{"\#(section)":{"old":{},"new":{},"oldHash":"x"}}"#),
            edit("an unknown field", #"{"\#(section)":{"old":{},"new":{"nobody":1}}}"#),
            edit("the key as a field", #"{"\#(section)":{"old":null,"new":{"id":1}}}"#),
            edit("an object as value", #"{"\#(section)":{"\#(field)":{"old":{"a":1},"new":[true]}}}"#),
        ]
        if let wide = resource.root.groups.first(where: { $0.fields.count > 1 }) {
            let half = #"{"\#(wide.fields[0].name)":null}"#
            made += [
                edit("half a group", #"{"\#(section)":{"\#(wide.name)":{"old":\#(half),"new":\#(half)}}}"#),
                edit("half a group", #"{"\#(section)":{"old":\#(half),"new":\#(half)}}"#),
                edit("half a group", #"{"\#(section)":{"old":\#(half),"new":null}}"#),
                edit("a bare group", #"{"\#(section)":{"\#(wide.name)":{"old":1,"new":2}}}"#),
                edit("a field for a group", #"{"\#(section)":{"\#(wide.fields[0].name)":{"old":1,"new":2}}}"#),
            ]
        }
        if let name = resource.root.readOnly.first {
            made += [
                edit("a read-only field", #"{"\#(section)":{"\#(name)":{"old":1,"new":2}}}"#),
                edit("a read-only field", #"{"\#(section)":{"old":null,"new":{"\#(name)":1}}}"#),
                edit("a read-only field", #"{"\#(section)":{"old":{"\#(name)":1},"new":{"\#(name)":2}}}"#),
            ]
        }
        for list in resource.sections where list.kind == "list" {
            made += [
                edit("a list of an object", #"{"\#(list.name)":{}}"#),
                edit("an item of a text", #"{"\#(list.name)":["x"]}"#),
                edit("an item without id", #"{"\#(list.name)":[{"old":{},"new":null}]}"#),
                edit(
                    "an item twice", #"{"\#(list.name)":[{"id":1,"old":{},"new":null},{"id":1,"old":{},"new":null}]}"#),
                edit("an item of an object", #"{"\#(list.name)":[{"id":{},"old":{},"new":null}]}"#),
                edit("an item of another record", #"{"\#(list.name)":[{"id":[98,99],"old":null,"new":{}}]}"#),
            ]
        }
        return made
    }

    private var temporaries: [CorpusRequest] {
        func creation(_ id: String) -> String {
            #"{"resource":"\#(resource.name)","id":\#(id),"changeset":{"\#(section)":{"old":null,"new":{}}}}"#
        }
        let reference = resource.root.groups.flatMap(\.fields).first { $0.references == resource.name }
        var made = [
            push("a temporary id twice", #"{"edits":[\#(creation(#""tmp:t""#)),\#(creation(#""tmp:t""#))]}"#),
            push(
                "a creation without id",
                #"{"edits":[{"resource":"\#(resource.name)","changeset":{"\#(section)":{"old":null,"new":{}}}}]}"#),
            edit("an unknown temporary id", #"{"\#(section)":{}}"#, id: #""tmp:nobody""#),
            edit("an id of null", "{}", id: "null"), edit("an id of an object", "{}", id: "{}"),
            edit("an id of a fraction", "{}", id: "1.5"), edit("an id of many parts", "{}", id: "[1,2,3,4]"),
            edit("an id of true", "{}", id: "true"),
            edit("a long id", "{}", id: #""\#(String(repeating: "i", count: 200))""#),
            push("no id", #"{"edits":[{"resource":"\#(resource.name)","changeset":{"\#(section)":{}}}]}"#),
        ]
        for field in resource.root.groups.flatMap(\.fields) where field.references != nil {
            made.append(
                edit(
                    "a reference to nobody", #"{"\#(section)":{"old":null,"new":{"\#(field.name)":"tmp:nobody"}}}"#,
                    id: #""tmp:x""#))
        }
        if let reference {
            made.append(
                push(
                    "a circle",
                    #"{"edits":[\#(creation(#""tmp:t""#).replacing(#""new":{}"#, with: #""new":{"\#(reference.name)":"tmp:t"}"#))]}"#
                ))
        }
        return made
    }

    // MARK: Addresses

    private var addresses: [CorpusRequest] {
        let paths: [(HTTPClient.Method, String)] = [
            (.get, "/v1/nowhere"), (.get, "/"), (.get, "/v1/records/\(resource.name)x"), (.get, "/v1/records"),
            (.get, "/v1/records/\(resource.name)/9876"), (.get, "/v1/records/\(resource.name)/%zz"),
            (.get, "/v1/records/\(resource.name)/1,2,3,4"), (.get, "/v1/records/\(resource.name)/1/2"),
            (.delete, "/v1/records/\(resource.name)/1"), (.put, "/v1/records/\(resource.name)/1"), (.post, "/v1/rules"),
            (.get, "/v1/push"), (.patch, "/v1/merge/\(resource.name)"), (.options, "/v1/push"),
            (.delete, "/v1/journal"), (.get, "/v1/journal/1/undo"), (.head, "/v1/rules"), (.head, "/v1/nowhere"),
            (.head, "/v1/records/\(resource.name)"), (.head, "/v1/records/\(resource.name)/9876"), (.head, "/v1/push"),
            (.get, "/v1/journal/0"), (.get, "/v1/journal/x"), (.get, "/v1/journal/899999"), (.get, "/healthz"),
            (.head, "/healthz"), (.post, "/healthz"), (.get, "/v1/changes?since=0"),
            (.get, "/v1/rules?x=1"),
        ]
        return paths.map { CorpusRequest("bad: address", $0.0, $0.1) }
            + [
                CorpusRequest("bad: address", .post, "/v1/merge/\(resource.name)x", #"{"id":1,"changeset":{}}"#),
                CorpusRequest("bad: address", .post, "/v1/sync", #"{"pushes":[]}"#),
                CorpusRequest("bad: address", .post, "/v1/journal/899999/undo", "{}"),
                CorpusRequest("bad: address", .put, "/v1/push", #"{"edits":[]}"#),
            ]
    }

    private var queries: [CorpusRequest] {
        let pages = [
            "limit=x", "limit=", "limit=-1", "limit=0", "limit=1.5", "limit=99999999999999999999", "limit=%31",
            "limit=2&limit=2",
            "after=", "after=x", "after=%zz", "after=1,2,3,4", "after=99999", "Limit=2", "limit=3&after=1",
        ].map { CorpusRequest("bad: page", .get, "/v1/records/\(resource.name)?\($0)") }
        let journals = [
            "limit=x", "limit=2", "after=x", "outcome=wonn", "outcome=applied", "refused=maybe", "refused=true&limit=3",
            "id=1",
            "id=1&resource=nobody", "id=1&resource=\(resource.name)", "since=yesterday", "since=2999-01-01", "who=%zz",
            "who=nobody",
            "Who=x", "limit=1&limit=1", "resource=\(resource.name)&limit=2",
        ].map { CorpusRequest("bad: journal", .get, "/v1/journal?\($0)") }
        let pushes = [
            "Preview=true", "preview=yes", "preview=", "preview=true&preview=true", "by=true", "by=maybe", "by=false",
            "x",
            "preview=false",
        ].map { CorpusRequest("bad: query", .post, "/v1/push?\($0)", #"{"edits":[]}"#) }
        return pages + journals + pushes
    }

    // MARK: Types and sizes

    private var types: [CorpusRequest] {
        func typed(_ label: String, _ headers: [(String, String)], _ body: [UInt8]) -> CorpusRequest {
            CorpusRequest(label: "bad: " + label, target: "/v1/push", headers: headers, body: body)
        }
        let plain = Array(#"{"edits":[]}"#.utf8)
        // {"edits":[]}, packed.
        let packed: [UInt8] = [
            0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xAB, 0x56, 0x4A, 0x4D, 0xC9, 0x2C, 0x29, 0x56,
            0xB2, 0x8A, 0x8E, 0xAD, 0x05, 0x00, 0xB0, 0x71, 0x56, 0xF9, 0x0C, 0x00, 0x00, 0x00,
        ]
        return [
            typed("plain text", [("Content-Type", "text/plain")], plain),
            typed("no type", [("Content-Type", "")], plain),
            typed("a charset", [("Content-Type", "application/json; charset=utf-8")], plain),
            typed("packed", [("Content-Encoding", "gzip")], packed),
            typed("packed badly", [("Content-Encoding", "gzip")], plain),
            typed("packed otherwise", [("Content-Encoding", "br")], plain),
            CorpusRequest(label: "bad: no body", target: "/v1/push"),
            CorpusRequest("bad: undo of a list", .post, "/v1/journal/900001/undo", "[]"),
            CorpusRequest("bad: undo of no groups", .post, "/v1/journal/900001/undo", #"{"groups":[]}"#),
            CorpusRequest("bad: undo of a number", .post, "/v1/journal/900001/undo", #"{"groups":[1]}"#),
            CorpusRequest(
                "bad: undo of an unknown group", .post, "/v1/journal/900001/undo?preview=true", #"{"groups":["x.y"]}"#),
            CorpusRequest("bad: undo with a query", .post, "/v1/journal/900001/undo?groups=x", nil),
        ]
    }

    private var sizes: [CorpusRequest] {
        let one = #"{"resource":"\#(resource.name)","id":\#(id),"changeset":{}}"#
        let edits = Array(repeating: one, count: 13).joined(separator: ",")
        var made = [
            push("too many edits", #"{"edits":[\#(edits)]}"#),
            push("a body that is too large", #"{"edits":[]\#(String(repeating: " ", count: 8_000))}"#),
        ]
        if let list = resource.sections.first(where: { $0.kind == "list" }) {
            let items = (1...41).map { #"{"id":\#($0),"old":{},"new":null}"# }.joined(separator: ",")
            made.append(edit("too many items", #"{"\#(list.name)":[\#(items)]}"#))
        }
        return made
    }
}

import MergeCore
import TestSupport

/// Makes the requests of a chapter one by one, each from the earlier answers.
struct RequestMaker {
    private let chapter: Chapter
    private let resources: [ResourceShape]
    private var dice: Dice
    private var notebook = ClientCopies()
    private var client = 0
    private var keyCount = 0
    /// Requests with a key, to be sent again.
    private var keyed: [CorpusRequest] = []
    private var mischief: [CorpusRequest] = []
    private var tags: [(target: String, tag: String)] = []

    init(_ chapter: Chapter, seed: Int, rules: JSON) {
        self.chapter = chapter
        dice = Dice(seed: seed)
        resources = (rules["resources"]?.array ?? []).map { ResourceShape($0) }
    }

    /// The first page of every resource, with which every client begins.
    var beginning: [CorpusRequest] {
        resources.map { CorpusRequest("page first", .get, "/v1/records/\($0.name)?limit=20") }
    }

    /// The last requests of the chapter.
    var end: [CorpusRequest] {
        var requests = resources.flatMap { resource in
            let last = notebook.ids(resource.name).count > 20 ? notebook.ids(resource.name)[15] : nil
            let first = CorpusRequest("page last", .get, "/v1/records/\(resource.name)?limit=20")
            guard let last else { return [first] }
            return [
                first,
                CorpusRequest("page last", .get, "/v1/records/\(resource.name)?limit=20&after=\(Self.urlText(last))"),
            ]
        }
        if chapter.hasJournal { requests.append(CorpusRequest("journal last", .get, "/v1/journal?limit=60")) }
        return requests
    }

    mutating func next() -> CorpusRequest {
        client = dice.number(0...ClientCopies.clients - 1)
        var request = made()
        if chapter.needsTokens { sign(&request) }
        if dice.chance(10), !request.headers.contains(where: { $0.name == "X-Device-ID" }) {
            request.headers.append(("X-Device-ID", "till-\(client)"))
        }
        return request
    }

    private mutating func made() -> CorpusRequest {
        switch dice.number(1...100) {
        case ...27: return merge()
        case ...55: return push()
        case ...61: return again()
        case ...69: return record()
        case ...75: return page()
        case ...84: return chapter.hasJournal || dice.chance(15) ? journal() : push()
        default: return bad()
        }
    }

    // MARK: Writes

    private mutating func merge() -> CorpusRequest {
        let resource = dice.pick(resources)
        var maker = EditMaker(notebook: notebook, client: client)
        let edit = maker.edit(resource, &dice)
        let isPreview = dice.chance(12)
        var request = CorpusRequest(
            "merge" + (isPreview ? " preview" : ""), .post,
            "/v1/merge/\(resource.name)" + (isPreview ? "?preview=true" : ""))
        setBody(&request, edit.text(named: false), hasRules: dice.chance(8))
        return request
    }

    private mutating func push() -> CorpusRequest {
        let isPreview = dice.chance(12)
        let isEach = dice.chance(35)
        var maker = EditMaker(notebook: notebook, client: client)
        var edits: [String] = []
        var about: String?
        for _ in 0..<dice.pick([1, 1, 2, 2, 3, 3, 4, 5, 6]) {
            let resource = dice.pick(resources)
            let edit = maker.edit(resource, &dice)
            edits.append("{" + edit.text(named: true) + "}")
            // The same edit once more, or one of the same record.
            if dice.chance(8), edits.count < 6 { edits.append("{" + edit.text(named: true) + "}") }
            about = about ?? edit.id
        }
        if dice.chance(25) { edits = dice.shuffled(edits) }
        var request = CorpusRequest(
            "push" + (isEach ? " each" : "") + (isPreview ? " preview" : ""), .post,
            "/v1/push" + (isPreview ? "?preview=true" : ""))
        let atomic = isEach ? #""atomic":"edit","# : dice.chance(8) ? #""atomic":"push","# : ""
        setBody(&request, atomic + #""edits":[\#(edits.joined(separator: ","))]"#, hasRules: dice.chance(8))
        return request
    }

    private mutating func setBody(_ request: inout CorpusRequest, _ members: String, hasRules: Bool) {
        var members = (hasRules ? #""rules":"{version}","# : "") + members
        if dice.chance(30) {
            keyCount += 1
            let key = "\(client)-\(keyCount)"
            if dice.chance(25) {
                request.headers.append(("Idempotency-Key", key))
            } else {
                members = #""key":"\#(key)","# + members
            }
            request.label += " keyed"
        }
        request.body = Array("{\(members)}".utf8)
        if request.label.hasSuffix("keyed") { keyed.append(request) }
    }

    /// A request that was sent before: the same, or with another body or address.
    private mutating func again() -> CorpusRequest {
        guard !keyed.isEmpty else { return push() }
        var request = dice.pick(Array(keyed.suffix(12)))
        let body = String(decoding: request.body ?? [], as: UTF8.self)
        switch dice.number(1...10) {
        case ...5: request.label = "again the same"
        case 6:
            request.label = "again with blanks"
            request.body = Array(body.replacing(",", with: " , ").utf8)
        case 7:
            request.label = "again with another body"
            request.body = Array(body.replacing(#""new":"#, with: #""new": "#).replacing("1", with: "2").utf8)
        case 8:
            request.label = "again with an unknown section"
            request.body = Array(body.replacing(#""changeset":{"#, with: #""changeset":{"nobody":{},"#).utf8)
        case 9:
            request.label = "again elsewhere"
            request.target =
                request.target.hasPrefix("/v1/push") ? "/v1/merge/\(dice.pick(resources).name)" : "/v1/push"
        default:
            request.label = "again as a preview"
            request.target = request.target.split(separator: "?")[0] + "?preview=true"
        }
        return request
    }

    // MARK: Reads

    private mutating func record() -> CorpusRequest {
        let resource = dice.pick(resources)
        let ids = notebook.ids(resource.name)
        let id = ids.isEmpty || dice.chance(6) ? "77" : dice.pick(dice.chance(50) ? Array(ids.prefix(3)) : ids)
        var request = CorpusRequest(
            "record", dice.chance(6) ? .head : .get, "/v1/records/\(resource.name)/\(Self.urlText(id))")
        if let known = tags.last(where: { $0.target == request.target }), dice.chance(75) {
            request.headers.append(("If-None-Match", dice.chance(20) ? "\"x\", W/" + known.tag : known.tag))
        }
        return request
    }

    private mutating func page() -> CorpusRequest {
        let resource = dice.pick(resources)
        let ids = notebook.ids(resource.name)
        var members: [String] = []
        if dice.chance(70) { members.append("limit=\(dice.pick([1, 2, 3, 5, 50]))") }
        if !ids.isEmpty, dice.chance(55) { members.append("after=\(Self.urlText(dice.pick(ids)))") }
        let query = members.isEmpty ? "" : "?" + members.joined(separator: "&")
        return CorpusRequest("page", .get, "/v1/records/\(resource.name)\(query)")
    }

    private mutating func journal() -> CorpusRequest {
        let entries = notebook.entries
        let number = entries.isEmpty ? 900_001 : dice.pick(Array(entries.suffix(25)))
        switch dice.number(1...10) {
        case ...2: return CorpusRequest("journal", .get, "/v1/journal?after=\(max(number, 900_004) - 3)&limit=12")
        case 3:
            let resource = dice.pick(resources)
            let ids = notebook.ids(resource.name)
            let id = ids.isEmpty ? "" : "&id=\(Self.urlText(dice.pick(ids)))"
            return CorpusRequest("journal", .get, "/v1/journal?resource=\(resource.name)\(id)&limit=5")
        case 4: return CorpusRequest("journal", .get, "/v1/journal?refused=true&limit=4&after=\(number)")
        case ...6: return CorpusRequest("journal entry", .get, "/v1/journal/\(number)")
        case 7: return CorpusRequest("undo preview", .post, "/v1/journal/\(number)/undo?preview=true", "{}")
        case 8:
            let section = dice.pick(resources).root
            let group = dice.pick(section.groups.map(\.name) + [""])
            let name = section.name + (group.isEmpty ? "" : "." + group)
            return CorpusRequest("undo groups", .post, "/v1/journal/\(number)/undo", #"{"groups":["\#(name)"]}"#)
        default: return CorpusRequest("undo", .post, "/v1/journal/\(number)/undo", "{}")
        }
    }

    // MARK: Invalid requests

    private mutating func bad() -> CorpusRequest {
        if mischief.isEmpty {
            let resource = dice.pick(resources)
            let id = notebook.ids(resource.name).first ?? "1"
            mischief = dice.shuffled(WrongRequestMaker(resource: resource, id: id).all)
        }
        return mischief.removeLast()
    }

    private mutating func sign(_ request: inout CorpusRequest) {
        let token = dice.pick([
            CorpusGateway.office, CorpusGateway.office, CorpusGateway.clerk, CorpusGateway.reader, "x", "",
        ])
        if !token.isEmpty { request.headers.append(("Authorization", "Bearer " + token)) }
    }

    /// A record's id in the form of a URL.
    static func urlText(_ id: String) -> String {
        guard let json = try? JSON(id) else { return id }
        let parts = json.array.isEmpty ? [json] : json.array
        return parts.map { part in
            (part.text ?? part.description).utf8.map { byte in
                let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                return isPlain || byte == 45
                    ? String(UnicodeScalar(byte))
                    : "%" + String(UInt16(byte) + 256, radix: 16, uppercase: true).dropFirst()
            }.joined()
        }.joined(separator: ",")
    }

    // MARK: Learning

    /// Stores the answer to a request.
    mutating func learn(_ request: CorpusRequest, _ answer: CorpusAnswer, forAll: Bool = false) {
        if let tag = answer.headers.first(where: { $0.string.hasPrefix("etag: ") }) {
            tags.append((request.target, String(tag.string.dropFirst(6))))
        }
        guard let body = try? JSON(answer.body.string) else { return }
        for entry in body["entries"]?.array ?? [] {
            if let number = entry["number"]?.int { notebook.noteEntry(number) }
        }
        let name =
            request.target.split(separator: "?")[0].split(separator: "/").dropFirst(2).first.map(String.init) ?? ""
        if request.target.hasPrefix("/v1/records/") {
            let records = body["records"]?.array ?? [body]
            for record in records where record["id"] != nil {
                for client in forAll ? Array(0..<ClientCopies.clients) : [self.client] {
                    notebook.note(record, name, client: client)
                }
            }
        }
        guard !request.target.contains("preview=true") else { return }
        for result in body["results"]?.array ?? [body] { learn(result) }
    }

    private mutating func learn(_ result: JSON) {
        guard let resource = result["resource"]?.text, let record = result["record"] else { return }
        if record.isNull {
            guard let id = result["id"]?.description, dice.chance(70) else { return }
            notebook.noteGone(id, resource, client: client)
        } else if let id = record["id"]?.description {
            // A client that ignores an answer keeps a stale copy.
            let isNew = !notebook.copies(client, resource).contains { $0.id == id }
            if isNew || dice.chance(55) { notebook.note(record, resource, client: client) }
        }
    }
}

import MergeCore
import TestSupport

/// Makes requests in each form of the protocol from the first records, and reads pages to their end.
struct FormsMaker {
    enum Plan: Sendable {
        /// Edits in each form, at most so many that are independent, then chains, pages and entries.
        case edits(seed: Int, count: Int)
        /// Every address with every method.
        case methods
        /// Every address with every token.
        case tokens
    }

    private let plan: Plan
    private let resources: [ResourceShape]
    private let hasJournal: Bool
    private var notebook = ClientCopies()
    private var waiting: [CorpusRequest] = []

    init(_ chapter: Chapter, plan: Plan, rules: JSON) {
        self.plan = plan
        hasJournal = chapter.hasJournal
        resources = (rules["resources"]?.array ?? []).map { ResourceShape($0) }
    }

    /// The pages from which the requests are made.
    var beginning: [CorpusRequest] {
        resources.map { CorpusRequest("page first", .get, "/v1/records/\($0.name)?limit=20") }
    }

    /// Makes the requests, once the beginning was answered.
    mutating func begin() {
        switch plan {
        case .edits(let seed, let count):
            var dice = Dice(seed: seed)
            waiting = edits(count: count, &dice)
        case .methods: waiting = addresses?.methods ?? []
        case .tokens: waiting = addresses?.tokens ?? []
        }
    }

    private var addresses: AddressForms? {
        guard let resource = resources.first, let id = notebook.ids(resource.name).first else { return nil }
        return AddressForms(resource: resource, id: RequestMaker.urlText(id))
    }

    private func edits(count: Int, _ dice: inout Dice) -> [CorpusRequest] {
        var rows = Array(dice.shuffled(singles(&dice)).prefix(count))
        for (number, resource) in resources.enumerated() {
            if let copy = notebook.copies(0, resource.name).first {
                let forms = forms(resource, copy.record)
                rows += EditChains(forms: forms, id: copy.id, name: "\(number)").all(&dice)
            }
            rows += pages(resource)
        }
        if hasJournal { rows += journal }
        return dice.shuffled(rows).flatMap { $0 }
    }

    mutating func next() -> CorpusRequest? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Stores the records of a page, and requests the next page.
    mutating func learn(_ request: CorpusRequest, _ answer: CorpusAnswer) {
        guard let body = try? JSON(answer.body.string), body["records"] != nil else { return }
        let parts = request.target.split(separator: "?")
        let name = String(parts[0].split(separator: "/").last ?? "")
        if request.label == "page first" {
            for record in body["records"]?.array ?? [] { notebook.note(record, name, client: 0) }
        }
        guard request.label == "page followed", let next = body["next"], !next.isNull else { return }
        let limit = parts.count > 1 ? parts[1].split(separator: "&")[0] : ""
        let target = "\(parts[0])?\(limit)&after=\(RequestMaker.urlText(next.description))"
        waiting.insert(CorpusRequest("page followed", .get, target), at: 0)
    }

    private func forms(_ resource: ResourceShape, _ record: JSON) -> EditForms {
        let notebook = notebook
        return EditForms(resource: resource, record: record) { notebook.ids($0) }
    }

    // MARK: Single edits

    private func singles(_ dice: inout Dice) -> [[CorpusRequest]] {
        var rows: [[CorpusRequest]] = []
        for resource in resources {
            for copy in notebook.copies(0, resource.name).prefix(6) {
                for form in forms(resource, copy.record).all(&dice) {
                    rows.append(wrapped(form, resource.name, copy.id, number: rows.count, &dice))
                }
            }
        }
        return rows
    }

    /// An edit in one of its possible requests, or in two of them.
    private func wrapped(
        _ form: EditForms.Form, _ resource: String, _ id: String, number: Int, _ dice: inout Dice
    ) -> [CorpusRequest] {
        let edit = #""id":\#(id),"changeset":{\#(form.changeset)}"#
        let named = #"{"resource":"\#(resource)",\#(edit)}"#
        let label = "form: " + form.label
        let merge = CorpusRequest(label, .post, "/v1/merge/\(resource)", "{\(edit)}")
        let preview = CorpusRequest(label + " preview", .post, "/v1/merge/\(resource)?preview=true", "{\(edit)}")
        switch dice.number(1...10) {
        case 1: return [preview]
        case 2: return [preview, merge]
        case 3: return [CorpusRequest(label, .post, "/v1/push", #"{"edits":[\#(named)]}"#)]
        case 4: return [CorpusRequest(label, .post, "/v1/push", #"{"atomic":"edit","edits":[\#(named)]}"#)]
        case 5: return [CorpusRequest(label + " twice", .post, "/v1/push", #"{"edits":[\#(named),\#(named)]}"#)]
        case 6:
            let keyed = CorpusRequest(label, .post, "/v1/merge/\(resource)", #"{"key":"f\#(number)",\#(edit)}"#)
            return [keyed, keyed]
        default: return [merge]
        }
    }

    // MARK: Reads

    private func pages(_ resource: ResourceShape) -> [[CorpusRequest]] {
        var rows = [1, 2, 3].map {
            [CorpusRequest("page followed", .get, "/v1/records/\(resource.name)?limit=\($0)")]
        }
        for query in ["limit=501", "limit=20&limit=1", "after=1&nobody=2", "limit=2&after=", "limit=+2", "limit"] {
            rows.append([CorpusRequest("page", .get, "/v1/records/\(resource.name)?\(query)")])
            rows.append([CorpusRequest("page", .head, "/v1/records/\(resource.name)?\(query)")])
        }
        return rows
    }

    private var journal: [[CorpusRequest]] {
        (1...10).map { number in
            let address = "/v1/journal/\(900_000 + number)"
            let undo = CorpusRequest("undo", .post, address + "/undo", "{}")
            var preview = undo
            preview.target += "?preview=true"
            return [
                CorpusRequest("journal entry", .get, address), preview, undo, undo,
                CorpusRequest("journal entry", .head, address),
            ]
        }
    }
}

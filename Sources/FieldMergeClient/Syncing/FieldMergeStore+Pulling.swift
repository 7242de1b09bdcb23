import Foundation

extension FieldMergeStore {
    static let recordsInTransaction = 500

    /// Reads the next page of changes, or a snapshot, and stores it.
    func pull() async throws -> Scheduler.Event? {
        if let refusal = try await prepare() { return refusal }
        sync.isNoted = false
        let wanted = try await file.read { try $0.wanted() }
        if wanted == [] {
            sync.lastHadMore = false
            try await write("rebuild") { try $0.rebuild() }
            return .page  // nothing is kept here
        }
        let (place, isDue, filter) = try await file.read { ledger in
            let isDue = try !ledger.meta("resnapshot").isNull || ledger.dueDifference() != nil
            return (try ledger.feedPlace(), isDue, try ledger.feedFilter())
        }
        guard let place, !isDue else { return try await snapshot(.snapshot) }
        let members = place.members(filter: filter)
        let answer = try await ask("GET", "/v1/changes" + query(members, resources: wanted))
        if answer.status == 410 {
            sync.freshAfter = nil
            return .resync
        }
        guard answer.status == 200 else {
            return try await event(of: answer)
        }
        guard let page = ChangesPage(answer.json) else { return lost("the answer is not that of a gateway") }
        sync.freshAfter = nil
        sync.report.changes += try await write("page") { try $0.storePage(page, asked: place) }
        sync.lastHadMore = page.hasMore
        return try await rulesOrPage()
    }

    /// Returns the event of an answer that has no records.
    private func event(of answer: WholeAnswer) async throws -> Scheduler.Event {
        if let event = try await noFeed(answer) { return event }
        return try await unknownResource(answer) ?? refusal(answer)
    }

    private func rulesOrPage() async throws -> Scheduler.Event {
        try await file.read { try !$0.meta("rulesDue").isNull } ? .rules : .page
    }

    /// Returns the event of a gateway without a journal, which has no changes to pull.
    private func noFeed(_ answer: WholeAnswer) async throws -> Scheduler.Event? {
        guard answer.status == 404, let problem = answer.problem, problem["code"] == "no-feed" else { return nil }
        sync.report.problem = problem
        sync.lastHadMore = false
        try await write("rebuild") { ledger in
            try ledger.skipReshape()
            try ledger.rebuild()
        }
        return .page
    }

    /// Reads a snapshot, or continues an interrupted one.
    ///
    /// Returns `page` or `rules` when all records are stored.
    func snapshot(_ kind: SnapshotKind) async throws -> Scheduler.Event {
        let request = try await file.read { try $0.snapshotRequest(kind) }
        let path = "/v1/snapshot" + query(request.members, resources: request.resources)
        let (response, generation) = try await send("GET", path, accept: "application/x-ndjson")
        sync.usedToken = generation
        guard response.status == 200 else {
            let answer = try await Self.whole(response)
            if request.cursor != nil, answer.status == 400 || answer.status == 410 {
                try await write("snapshot anew") { try $0.forgetSnapshot(kind) }
                return kind == .reshape ? .page : .resync
            }
            // The rules may lack a field of the earlier filter.
            let isOtherDue = try await file.read { try $0.dueDifference() != nil }
            let isOldFilter = isOtherDue && kind == .reshape && answer.status == 400
            if isOldFilter || (request.difference != nil && answer.status == 410) {
                sync.freshAfter = nil
                return .resync
            }
            return try await event(of: answer)
        }
        sync.freshAfter = nil
        var part = SnapshotPart(kind: kind, request: request)
        var lines = LineSplitter()
        var body = response.body.makeAsyncIterator()
        while let data = try await Self.next(&body) {
            for line in lines.split(data) where try await take(line, part: &part) { return try await end(part) }
        }
        try Task.checkCancellation()
        if let last = lines.rest, try await take(last, part: &part) { return try await end(part) }
        throw ConnectionLost(reason: "the snapshot broke off")
    }

    private static func next(_ body: inout AsyncThrowingStream<Data, any Error>.Iterator) async throws -> Data? {
        do {
            return try await body.next(isolation: #isolation)
        } catch {
            throw ConnectionLost(reason: reason(error))
        }
    }

    /// The records of a snapshot that were not stored yet.
    private struct SnapshotPart {
        let kind: SnapshotKind
        let request: SnapshotRequest
        /// It is of no use to this store: other rules or another history.
        var isRefused = false
        var hasBegun = false
        var lines: [RecordLine] = []
    }

    /// Stores a line of a snapshot; returns true for the last.
    private func take(_ line: Data, part: inout SnapshotPart) async throws -> Bool {
        guard let told = JSONValue(bytes: line), let members = told.objectValue else {
            throw ConnectionLost(reason: "a line of the snapshot is no JSON")
        }
        if let head = members["snapshot"] {
            return try await begin(&part, head: head)
        }
        guard part.hasBegun else { throw ConnectionLost(reason: "the snapshot has no beginning") }
        if let record = RecordLine(told) {
            part.lines.append(record)
            if part.lines.count >= Self.recordsInTransaction { try await store(&part, cursor: nil) }
        } else if let cursor = members["cursor"] {
            try await store(&part, cursor: cursor.stringValue)
        } else if members["end"] != nil {
            try await store(&part, cursor: nil)
            return true
        }
        return false
    }

    /// Reads the first line; returns true if the others are of no use.
    private func begin(_ part: inout SnapshotPart, head: JSONValue) async throws -> Bool {
        let (kind, request) = (part.kind, part.request)
        let goesOn = request.cursor != nil
        let start = try await write("snapshot begins") { ledger in
            switch kind {
            case .snapshot:
                try ledger.beginSnapshot(
                    head, filter: request.filter, difference: request.difference, goesOn: goesOn)
            case .reshape: try ledger.beginReshape(head, of: request.resources ?? [], goesOn: goesOn)
            }
        }
        switch start {
        case .stored: part.hasBegun = true
        case .other: throw ConnectionLost(reason: "the snapshot that broke off cannot go on")
        case .otherRules, .otherHistory: part.isRefused = true
        }
        bells.ring(.status)
        return part.isRefused
    }

    private func store(_ part: inout SnapshotPart, cursor: String?) async throws {
        let (lines, kind) = (part.lines, part.kind)
        part.lines = []
        try await write("snapshot") { try $0.storePart(lines, cursor: cursor, of: kind) }
        sync.report.changes += lines.count
        bells.ring(.status)
        try Task.checkCancellation()
    }

    private func end(_ part: SnapshotPart) async throws -> Scheduler.Event {
        if part.isRefused { return part.kind == .reshape ? .page : try await rulesOrPage() }
        let dropped = part.kind == .reshape ? part.request.resources : nil
        if part.request.difference == nil {
            while try await write("snapshot drops", { try $0.dropOld(limit: Self.recordsInTransaction, of: dropped) }) {
            }
        }
        let kind = part.kind
        try await write("snapshot ends") { ledger in
            switch kind {
            case .snapshot: try ledger.endSnapshot()
            case .reshape: try ledger.endReshape()
            }
        }
        sync.lastHadMore = true  // changes during the read
        return try await rulesOrPage()
    }
}

/// Splits parts of bytes into lines.
struct LineSplitter {
    private var buffer = Data()

    /// Returns the complete lines, without empty lines.
    mutating func split(_ part: Data) -> [Data] {
        buffer.append(part)
        var lines: [Data] = []
        var start = buffer.startIndex
        while let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if end > start { lines.append(buffer[start..<end]) }
            start = buffer.index(after: end)
        }
        buffer = Data(buffer[start...])
        return lines
    }

    /// The bytes after the last line; nil if there are none.
    var rest: Data? { buffer.isEmpty ? nil : buffer }
}

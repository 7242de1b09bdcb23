import GRDB
import Synchronization
public import Foundation

extension FieldMergeStore {
    /// Sends unsent edits and reads changes.
    ///
    /// It never throws for the network or an answer. The report has the result.
    /// - Parameter deadline: the time after which it ends in order, done or not.
    @discardableResult
    public func sync(deadline: Duration? = nil) async throws -> SyncReport {
        let seconds = deadline.map { Double($0.components.seconds) + Double($0.components.attoseconds) * 1e-18 }
        return try await sync(within: seconds)
    }

    /// The same with a moment as the deadline.
    @discardableResult
    public func sync(deadline: Date) async throws -> SyncReport {
        try await sync(within: deadline.timeIntervalSince1970 - clock.now())
    }

    /// Runs the scheduler until it rests, and the lane of large pushes.
    private func sync(within seconds: Double?) async throws -> SyncReport {
        let deadline = seconds.map { clock.monotonic() + $0 }
        lane.report = SyncReport()
        var report = try await run(.sync, deadline: seconds)
        while lane.task != nil, !SyncTurn.isInside {
            await laneRests(until: deadline)
            try Task.checkCancellation()
            if let deadline, clock.monotonic() >= deadline {
                report.error = "out of time"
                break
            }
            guard lane.task == nil, lane.due == nil else { break }
            report.add(try await run(.edit, deadline: deadline.map { $0 - clock.monotonic() }))
        }
        report.add(lane.report)
        return try await reported(report)
    }

    /// The status of the store at this moment.
    public var status: Status {
        get async {
            let told = try? await file.read { ledger in
                let (unsent, refused) = try ledger.counts()
                let whole = try ledger.meta("snapshot")
                let note = whole.isNull ? try ledger.meta("reshape") : whole
                let progress =
                    note.isNull
                    ? nil : Status.Progress(done: note["done"].intValue ?? 0, total: note["records"].intValue)
                return Status(
                    phase: .idle, unsent: unsent, refused: refused, progress: progress,
                    lastSynced: try ledger.meta("lastSynced").doubleValue,
                    revision: try ledger.meta("revision").intValue)
            }
            var status = told ?? Status(phase: .closed, unsent: 0, refused: 0)
            if told != nil { status.phase = phase }
            status.nextTry = sync.nextTry ?? lane.due.map { $0 - clock.monotonic() + clock.now() }
            status.message = sync.message
            status.link = sync.link
            status.error = sync.error
            status.problem = sync.problem
            return status
        }
    }

    /// The phase of the scheduler, or of the lane while the scheduler rests.
    var phase: SyncPhase {
        guard sync.phase == .idle else { return sync.phase }
        if lane.task != nil { return .pushing }
        return lane.due == nil ? .idle : .waiting
    }

    /// Reads everything again; unsent edits keep their `old`.
    @discardableResult
    public func resync() async throws -> SyncReport {
        try await write("note") { ledger in
            try ledger.setMeta("resnapshot", true)
            try ledger.setMeta("snapshot", .null)
        }
        return try await sync()
    }

    // MARK: End

    /// Deletes the local store.
    ///
    /// Tickets that the app still has return the outcomes of their edits.
    /// - Throws: `FieldMergeError.unsentEdits` if unsent edits may not be discarded; the store is then kept. With
    ///   `.refuse`, this includes refused edits without a result from the gateway, since no other copy exists.
    public func signOut(unsent policy: UnsentPolicy = .refuse) async throws {
        if policy == .send, try await file.read({ try $0.counts().unsent > 0 }) { try await sync() }
        // One transaction decides, empties the store and marks it: an edit is counted, or throws `storeClosed`.
        lastWords = try await file.write("sign out") { try $0.discardAll(policy: policy) }.0
        await stop()
        sync.phase = .closed
        try file.remove()
        bells.finish()
    }

    /// Ends the sync and closes the file within two seconds.
    ///
    /// The next opening of the store sends the unsent edits.
    public func close() async {
        await stop()
        sync.phase = .closed
        file.close()
        bells.finish()
    }

    /// Aborts running work, and waits for its end, for two seconds at most: a function of the app may never return.
    private func stop() async {
        sync.isClosing = true
        abort(.closed)
        let tasks = background?.tasks ?? []
        let sleeper = background?.sleeper
        background = nil
        sleeper?.resume()
        for task in tasks { task.cancel() }
        lane.task?.cancel()
        let latest = ContinuousClock.now + .milliseconds(1_800)
        while sync.isRunning || lane.task != nil, !SyncTurn.isInside, ContinuousClock.now < latest {
            abort(.closed)
            // The task of the caller may be cancelled already.
            await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
        }
    }

    /// Has the stores of this process release their locks before the system suspends the app, which it kills otherwise.
    ///
    /// Call it when the app enters the background, after `sync(deadline:)`. Writes before `resume()` fail.
    public static func suspend() { NotificationCenter.default.post(name: Database.suspendNotification, object: nil) }

    /// Permits writes of this process again, when the app returns to the foreground.
    public static func resume() { NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }

    // MARK: Support

    /// Writes every row of a store's file, one JSON value a line, also of a file of a newer version that `open` refuses.
    public static func exportStore(at url: URL, to destination: URL) throws {
        var configuration = Configuration()
        configuration.readonly = true
        guard FileManager.default.createFile(atPath: destination.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        let out = try FileHandle(forWritingTo: destination)
        defer { try? out.close() }
        try DatabaseQueue(path: url.path, configuration: configuration).read { db in
            let tables = try String.fetchAll(
                db,
                sql:
                    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT GLOB 'query_*' ORDER BY name"
            )
            for table in tables {
                let rows = try Row.fetchCursor(db, sql: "SELECT * FROM \(table.quotedDatabaseIdentifier)")
                while let row = try rows.next() {
                    let line: JSONValue = ["table": .string(table), "row": .object(Self.members(of: row))]
                    try out.write(contentsOf: Data(line.bytes + [0x0A]))
                }
            }
        }
    }

    private static func members(of row: Row) -> JSONObject {
        var members: JSONObject = [:]
        for (name, value) in row {
            members[name] =
                switch value.storage {
                case .null: .null
                case .int64(let number): .integer(Int128(number))
                case .double(let number): .double(number)
                case .string(let text): .string(text)
                case .blob(let data): .string(String(decoding: data, as: UTF8.self))
                }
        }
        return members
    }

    /// Returns the state of the store for support, without values of records and without a token.
    public func diagnose() async throws -> JSONValue {
        let status = await status
        let (server, user, device) = (server, user, device)
        let live = liveQueries.diagnosis
        let slow = slowQueries.withLock { JSONValue.array($0.map(\.json)) }
        return try await file.read { ledger in
            let pushes = try ledger.rows(
                "SELECT seq, state, key, length(body), refusal FROM push ORDER BY seq"
            ).map { row -> JSONValue in
                let edits = try ledger.edits(of: row[0]).map { edit -> JSONValue in
                    [
                        "resource": .string(edit.resource), "id": edit.id,
                        "sections": .array(edit.changes.rows.map { .string($0.section) }),
                    ]
                }
                let refusal = (row[4] as String?).flatMap { JSONValue(text: $0) } ?? .null
                return [
                    "number": .integer(Int128(row[0] as Int64)),
                    "state": .string(["unsent", "sent", "kept", "refused"][row[1] as Int]),
                    "key": (row[2] as String?).map(JSONValue.string) ?? .null,
                    "bytes": (row[3] as Int?).map { .integer(Int128($0)) } ?? .null,
                    "edits": .array(edits), "problem": refusal["problem"]["code"],
                ]
            }
            var records: JSONObject = [:]
            for row in try ledger.rows("SELECT resource, count(*) FROM base GROUP BY resource") {
                records[row[0]] = .integer(Int128(row[1] as Int64))
            }
            return [
                "server": .string(server), "user": .string(user), "device": .string(device),
                "resources": ledger.context.resources.map { .array($0.map(JSONValue.string)) } ?? .null,
                "phase": .string(status.phase.rawValue), "unsent": .integer(Int128(status.unsent)),
                "refused": .integer(Int128(status.refused)), "feed": try ledger.meta("feed"),
                "revision": try ledger.meta("revision"), "rules": try ledger.meta("rulesVersion"),
                "lastSynced": try ledger.meta("lastSynced"),
                "nextTry": status.nextTry.map(JSONValue.double) ?? .null,
                "error": status.error.map(JSONValue.string) ?? .null, "problem": status.problem ?? .null,
                "records": .object(records), "pushes": .array(pushes), "live": live, "slow": slow,
                "events": .integer(Int128(try ledger.number("SELECT count(*) FROM event") ?? 0)),
            ]
        }
    }

    /// Writes the complete content of the store into a file, one JSON value a line: first `diagnose()`, then the pushes with
    /// their edits, then the records.
    public func export(to url: URL) async throws {
        let diagnosis = try await diagnose()
        guard FileManager.default.createFile(atPath: url.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown)
        }
        try await file.read { ledger in
            let out = try FileHandle(forWritingTo: url)
            defer { try? out.close() }
            func write(_ line: JSONValue) throws { try out.write(contentsOf: Data(line.bytes + [0x0A])) }
            try write(["export": diagnosis])
            for row in try ledger.rows("SELECT seq, state, key, body FROM push ORDER BY seq") {
                let edits = try ledger.edits(of: row[0]).map { edit -> JSONValue in
                    [
                        "resource": .string(edit.resource), "id": edit.id,
                        "changes": .array(edit.changes.rows.map(\.jsonValue)),
                    ]
                }
                let body = (row[3] as Data?).map { JSONValue.string(String(decoding: $0, as: UTF8.self)) }
                try write([
                    "push": [
                        "number": .integer(Int128(row[0] as Int64)), "state": .integer(Int128(row[1] as Int64)),
                        "key": (row[2] as String?).map(JSONValue.string) ?? .null, "body": body ?? .null,
                        "edits": .array(edits),
                    ]
                ])
            }
            try ledger.eachBase { resource, id, record in
                let head = "{\"resource\":\(JSONValue.string(resource)),\"id\":\(id),\"record\":"
                try out.write(contentsOf: Data("\(head)\(record)}\n".utf8))
            }
        }
    }
}

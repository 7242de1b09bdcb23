internal import GRDB
import RecordStore

/// One of GRDB's connections, with its wait for files that other programs have locked.
final class SQLiteQueue: Sendable {
    let queue: DatabaseQueue
    let busy: BusyWait
    /// The one permit to use the connection.
    ///
    /// In GRDB's own queue, a caller would wait for the callers before it, whose deadlines may be later.
    let permit = Permits(limit: 1)
    private let turns: FileTurns?

    /// - Parameters:
    ///   - busySeconds: the default wait.
    ///   - turns: pauses for other programs; nil for a connection that writes little.
    init(_ path: String, busySeconds: Double, readonly: Bool, journal: String?, turns: FileTurns? = nil) throws {
        let busy = BusyWait(seconds: busySeconds)
        self.turns = turns
        self.busy = busy
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .callback { busy.pause(before: $0) }
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { database in
            // An acknowledged commit survives a loss of power.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            // Triggers of other programs expect the behaviour of the sqlite3 shell.
            try database.execute(sql: "PRAGMA recursive_triggers = OFF")
            if let journal {
                try database.execute(
                    sql: "ATTACH DATABASE ? AS \(JournalTables.attachedName)", arguments: [journal])
                try database.execute(sql: "PRAGMA \(JournalTables.attachedName).synchronous = FULL")
            }
        }
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    static let late = StoreError(.busy, "the SQLite file was in use until its time was over")

    /// Runs `body` on the connection unless the deadline is past, and waits for locked files until then.
    func lend<Answer>(
        _ database: Database, until deadline: ContinuousClock.Instant,
        _ body: (any StoreConnection) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        guard ContinuousClock.now < deadline else { throw Self.late }
        turns?.begin()
        busy.wait(until: deadline)
        defer {
            busy.wait(until: nil)
            turns?.end()
        }
        return try body(SQLiteConnection(database, busy: busy, turns: turns))
    }
}

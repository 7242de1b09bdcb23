package import MergeCore

/// The answer of `GET /v1/operations/health`.
package struct HealthReport: Sendable {
    /// The pool of connections to the database.
    package typealias Connections = (open: Int, used: Int, limit: Int, waiting: Int)

    /// The journal's size.
    package struct JournalSize: Sendable {
        let rows: Int
        let bytes: Int
        let rowsOfLastDay: Int
        let oldestSeconds: Int?
        let refusedOfLastDay: Int?

        /// Bundles the numbers, of which the last two are unknown for nil.
        package init(rows: Int, bytes: Int, rowsOfLastDay: Int, oldestSeconds: Int?, refusedOfLastDay: Int?) {
            self.rows = rows
            self.bytes = bytes
            self.rowsOfLastDay = rowsOfLastDay
            self.oldestSeconds = oldestSeconds
            self.refusedOfLastDay = refusedOfLastDay
        }

        /// The growth of the last day, by the average length of a row.
        var bytesOfLastDay: Int { rows == 0 ? 0 : Int(Double(bytes) / Double(rows) * Double(rowsOfLastDay)) }
    }

    /// The version of the program.
    package var version = ""
    /// The start of the gateway in UTC.
    package var startedAt: DateTime?
    /// The current time in UTC.
    package var now: DateTime?
    /// True if requests are served.
    package var isReady = false
    /// Sentences about faults.
    package var problems: [String] = []
    /// The reason for maintenance; nil while it is off.
    package var maintenance: String?
    /// The version of the active rules and their number of resources.
    package var rules: (version: String, resources: Int)?
    /// The pool; nil if the database is a file.
    package var connections: Connections?
    /// The names of the queues and the waiting items.
    package var queues: [(name: String, waiting: Int)] = []
    /// The sentence about the guarantee of the journal.
    package var promise: String?
    /// The size of the journal; nil if it is unknown.
    package var journal: JournalSize?
    /// The feed; nil if there is none.
    package var feed: FeedReport?
    /// The end of the certificate, in seconds since 1970; nil without TLS.
    package var certificateEnd: Int?
    /// The detected changes of the database's history.
    package var historyChanges = 0

    /// Creates an empty report.
    package init() {}

    /// The JSON of the answer.
    package var json: [UInt8] {
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
            text("version", is: version, to: &writer)
            text("startedAt", is: Self.text(startedAt), to: &writer)
            text("now", is: Self.text(now), to: &writer)
            writer.member("isReady")
            writer.flag(isReady)
            writer.member("problems")
            writer.array { writer in
                for sentence in problems { writer.string(sentence) }
            }
            text("maintenance", is: maintenance, to: &writer)
            writer.member("rules")
            writer.object { writer in
                text("version", is: rules?.version, to: &writer)
                number("resources", is: rules?.resources ?? 0, to: &writer)
            }
            writer.member("connections")
            if let connections { write(connections, &writer) } else { writer.null() }
            writer.member("queues")
            writer.array { writer in
                for queue in queues {
                    writer.object { writer in
                        text("queue", is: queue.name, to: &writer)
                        number("waiting", is: queue.waiting, to: &writer)
                    }
                }
            }
            writer.member("journal")
            write(journal, &writer)
            writer.member("feed")
            if let feed { feed.write(to: &writer) } else { writer.null() }
            text(
                "certificateEnd",
                is: Self.text(certificateEnd.flatMap { DateTime(secondsSince1970: $0, microsecond: 0) }), to: &writer)
            number("historyChanges", is: historyChanges, to: &writer)
        }
        return writer.bytes
    }

    private func write(_ connections: Connections, _ writer: inout JSONWriter) {
        writer.object { writer in
            number("open", is: connections.open, to: &writer)
            number("used", is: connections.used, to: &writer)
            number("limit", is: connections.limit, to: &writer)
            number("waiting", is: connections.waiting, to: &writer)
        }
    }

    private func write(_ size: JournalSize?, _ writer: inout JSONWriter) {
        writer.object { writer in
            text("promise", is: promise, to: &writer)
            guard let size else { return }
            number("rows", is: size.rows, to: &writer)
            number("bytes", is: size.bytes, to: &writer)
            number("rowsOfLastDay", is: size.rowsOfLastDay, to: &writer)
            number("bytesOfLastDay", is: size.bytesOfLastDay, to: &writer)
            if let oldest = size.oldestSeconds { number("oldestSeconds", is: oldest, to: &writer) }
            if let refused = size.refusedOfLastDay { number("refusedOfLastDay", is: refused, to: &writer) }
        }
    }

    private static func text(_ time: DateTime?) -> String? { time.map { $0.text(separator: "T", fraction: 0) + "Z" } }

    private func text(_ name: StaticString, is text: String?, to writer: inout JSONWriter) {
        writer.member(name)
        if let text { writer.string(text) } else { writer.null() }
    }

    private func number(_ name: StaticString, is number: Int, to writer: inout JSONWriter) {
        writer.member(name)
        writer.integer(number)
    }
}

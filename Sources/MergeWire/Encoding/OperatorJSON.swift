/// Answers for operators.
package enum OperatorJSON {
    /// Returns the answer of `/readyz`.
    ///
    /// - Parameters:
    ///   - promise: A sentence about the journal and its transactions, or nil until the journal is open.
    ///   - rows: The approximate number of the journal's rows, or nil without a journal.
    package static func readiness(
        isReady: Bool, rules: String?, trouble: [String], promise: String?, rows: Int?, bytes: Int?,
        lastDay: Int?, feed: FeedReport?
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("status")
            writer.string(isReady ? "ready" : "not-ready")
            writer.member("rules")
            if let rules { writer.string(rules) } else { writer.null() }
            writer.member("problems")
            writer.array { writer in
                for sentence in trouble { writer.string(sentence) }
            }
            writer.member("journal")
            writer.object { writer in
                writer.member("promise")
                if let promise { writer.string(promise) } else { writer.null() }
                for (name, number) in [("rows", rows), ("bytes", bytes), ("rowsOfLastDay", lastDay)] {
                    guard let number else { continue }
                    writer.name(name)
                    writer.integer(number)
                }
            }
            if let feed {
                writer.member("feed")
                feed.write(to: &writer)
            }
        }
        return writer.bytes
    }

    /// Returns the answer of `POST /v1/operations/maintenance`, with a reason while it is on.
    ///
    /// - Parameter running: The number of earlier pushes that still run.
    package static func maintenance(reason: String?, running: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("maintenance")
            writer.flag(reason != nil)
            writer.member("reason")
            if let reason { writer.string(reason) } else { writer.null() }
            writer.member("running")
            writer.integer(running)
        }
        return writer.bytes
    }
}

/// The change feed in the answer of `/readyz`.
package struct FeedReport: Sendable {
    /// The state of the source of foreign changes.
    package struct Foreign: Sendable {
        /// The source: `scan` or `binlog`.
        package let source: String
        /// The reason why the binary log is not read, or nil.
        package let logFault: String?
        /// True if this gateway runs the scan.
        package let isLooking: Bool
        /// The age of the scan's results in seconds, or nil before the end of the first cycle.
        package let lag: Int?
        /// The time from which on foreign changes are detected, or nil before the end of the first cycle.
        package let since: String?
        /// Further numbers by name, omitted if unknown.
        package let numbers: [(String, Int?)]
        /// The sections that cannot be scanned.
        package let unwatched: [String]

        /// Creates the state of the source.
        package init(
            source: String, logFault: String?, isLooking: Bool, lag: Int?, since: String?, numbers: [(String, Int?)],
            unwatched: [String]
        ) {
            self.source = source
            self.logFault = logFault
            self.since = since
            self.isLooking = isLooking
            self.lag = lag
            self.numbers = numbers
            self.unwatched = unwatched
        }
    }

    /// The latest revision that clients can read.
    package let revision: Int
    /// The number of transactions without a revision, or nil if unknown.
    package let pending: Int?
    /// The state of the scan, or nil if it is off.
    package let foreign: Foreign?

    /// Creates a report.
    package init(revision: Int, pending: Int?, foreign: Foreign?) {
        self.pending = pending
        self.revision = revision
        self.foreign = foreign
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("revision")
            writer.integer(revision)
            if let pending {
                writer.member("pending")
                writer.integer(pending)
            }
            writer.member("source")
            writer.string(foreign?.source ?? "off")
            guard let foreign else { return }
            if let fault = foreign.logFault {
                writer.member("binlogFault")
                writer.string(fault)
            }
            writer.member("scansHere")
            writer.flag(foreign.isLooking)
            writer.member("lagSeconds")
            if let lag = foreign.lag { writer.integer(lag) } else { writer.null() }
            writer.member("since")
            if let since = foreign.since { writer.string(since) } else { writer.null() }
            for (name, number) in foreign.numbers {
                guard let number else { continue }
                writer.name(name)
                writer.integer(number)
            }
            if foreign.unwatched.isEmpty { return }
            writer.member("notWatched")
            writer.array { writer in
                for name in foreign.unwatched { writer.string(name) }
            }
        }
    }
}

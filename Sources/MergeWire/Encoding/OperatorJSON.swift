/// Answers for operators.
package enum OperatorJSON {
    /// The answer of `/readyz`.
    ///
    /// - Parameters:
    ///   - promise: what the journal promises.
    ///   - rows: how many rows it has, as far as the database knows; nil without a journal.
    ///   - lastDay: rows that came in the last day.
    ///   - feed: the feed of changes; nil without one.
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

    /// The answer of `POST /v1/operations/maintenance`.
    ///
    /// - Parameters:
    ///   - reason: nil while maintenance is off.
    ///   - running: pushes that were let in before and still run.
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

/// The feed of changes as `/readyz` shows it.
package struct FeedReport: Sendable {
    /// The state of the look for programs that bypass the gateway.
    package struct Foreign: Sendable {
        /// This gateway is the one that looks.
        package let isLooking: Bool
        /// The age of what is known, in seconds; nil before everything has been looked at once.
        package let lag: Int?
        /// The time from which on changes are noticed, as text; nil as with `lag`.
        package let since: String?
        /// Numbers that are shown where they are known, by their names.
        package let numbers: [(String, Int?)]
        /// Sections that nobody can look at.
        package let unwatched: [String]

        /// Describes what is known.
        package init(
            isLooking: Bool, lag: Int?, since: String?, numbers: [(String, Int?)], unwatched: [String]
        ) {
            self.since = since
            self.isLooking = isLooking
            self.lag = lag
            self.numbers = numbers
            self.unwatched = unwatched
        }
    }

    /// The latest revision that clients are told.
    package let revision: Int
    /// Transactions whose changes have no revision yet, as far as they are counted; nil where that is not known.
    package let pending: Int?
    /// nil where nobody looks for changes of other programs.
    package let foreign: Foreign?

    /// Describes the feed.
    package init(revision: Int, pending: Int?, foreign: Foreign?) {
        self.pending = pending
        self.revision = revision
        self.foreign = foreign
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("revision")
            writer.integer(revision)
            if let pending {
                writer.member("pending")
                writer.integer(pending)
            }
            writer.member("source")
            writer.string(foreign == nil ? "off" : "scan")
            guard let foreign else { return }
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

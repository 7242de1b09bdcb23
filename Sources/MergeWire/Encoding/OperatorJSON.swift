/// Answers for operators.
package enum OperatorJSON {
    /// The answer of `/readyz`.
    ///
    /// - Parameters:
    ///   - promise: what the journal promises.
    ///   - rows: how many rows it has, as far as the database knows; nil without a journal.
    ///   - lastDay: rows that came in the last day.
    ///   - revision: the latest revision that clients are told; nil without a feed.
    package static func readiness(
        isReady: Bool, rules: String?, trouble: [String], promise: String?, rows: Int?, bytes: Int?,
        lastDay: Int?, revision: Int?
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
            if let revision {
                writer.member("feed")
                writer.object { writer in
                    writer.member("revision")
                    writer.integer(revision)
                    // Programs that bypass the gateway are not watched.
                    writer.member("source")
                    writer.string("off")
                }
            }
        }
        return writer.bytes
    }
}

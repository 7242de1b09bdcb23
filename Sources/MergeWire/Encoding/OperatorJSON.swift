/// Answers for operators.
package enum OperatorJSON {
    /// The answer of `/readyz`.
    ///
    /// - Parameters:
    ///   - promise: what the journal promises.
    ///   - rows: how many rows it has, as far as the database knows; nil without a journal.
    ///   - lastDay: rows that came in the last day.
    package static func readiness(
        isReady: Bool, rules: String?, trouble: [String], promise: String?, rows: Int?, bytes: Int?,
        lastDay: Int?
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
        }
        return writer.bytes
    }
}

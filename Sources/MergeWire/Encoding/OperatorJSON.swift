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
            writer.name("status")
            writer.string(isReady ? "ready" : "not-ready")
            writer.name("rules")
            if let rules { writer.string(rules) } else { writer.null() }
            writer.name("problems")
            writer.array { writer in
                for sentence in trouble { writer.string(sentence) }
            }
            writer.name("journal")
            writer.object { writer in
                writer.name("promise")
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

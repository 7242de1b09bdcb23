/// Answers for operators.
package enum OperatorJSON {
    /// The answer of `/readyz`.
    package static func readiness(isReady: Bool, rules: String?, trouble: [String]) -> [UInt8] {
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
        }
        return writer.bytes
    }
}

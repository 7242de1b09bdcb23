import Logging

/// The line that a request leaves in the log: never a value of a client, a token or a query.
struct RequestLine {
    let id: String
    let method: String
    let path: String
    let status: Int
    let milliseconds: Double
    /// The refusal of a request; nil for any other.
    var refusal: Refusal?

    /// The facts about a refusal, where they are known.
    struct Refusal {
        let facts: FailureNote.Facts
        let device: String?
        let resource: String?
    }

    /// Text for people: words as they are, text of others in quotes.
    var text: String {
        let tenths = Int((milliseconds * 10).rounded())
        var line = ""
        line.reserveCapacity(256)
        line += "request id="
        line += id
        line += " method="
        line += method
        line += " path="
        line += QuotedText.of(path)
        line += " status="
        line += String(status)
        line += " ms="
        line += String(tenths / 10)
        line += "."
        line += String(tenths % 10)
        guard let refusal else { return line }
        if let code = refusal.facts.code { line += " code=" + code }
        if let who = refusal.facts.who { line += " who=" + QuotedText.of(who) }
        if let device = refusal.device { line += " device=" + QuotedText.of(device) }
        if let resource = refusal.resource { line += " resource=" + resource }
        if let cause = refusal.facts.cause { line += " cause=" + QuotedText.of(cause) }
        return line
    }

    /// The same for machines.
    var metadata: Logger.Metadata {
        var fields: Logger.Metadata = [
            "id": .string(id), "method": .string(method), "path": .string(path), "status": .stringConvertible(status),
            "ms": .stringConvertible((milliseconds * 10).rounded() / 10),
        ]
        guard let refusal else { return fields }
        for (name, value) in [
            ("code", refusal.facts.code), ("who", refusal.facts.who), ("device", refusal.device),
            ("resource", refusal.resource), ("cause", refusal.facts.cause),
        ] {
            if let value { fields[name] = .string(value) }
        }
        return fields
    }
}

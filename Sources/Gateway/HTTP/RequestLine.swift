import Logging
import MergeCore

/// The line of a request in the log, without values of a client, tokens or queries.
struct RequestLine {
    let id: String
    let method: String
    let path: String
    let status: Int
    let milliseconds: Double
    /// nil for a request that succeeded.
    var refusal: Refusal?

    struct Refusal {
        let facts: FailureNote.Facts
        let device: String?
        let resource: String?

        fileprivate var text: String {
            var text = ""
            if let code = facts.code { text += " code=" + code }
            if let who = facts.who { text += " who=" + QuotedText.of(who) }
            if let device { text += " device=" + QuotedText.of(device) }
            if let resource { text += " resource=" + resource }
            if let cause = facts.cause { text += " cause=" + QuotedText.of(cause) }
            return text
        }
    }

    /// The line as text, with client text in quotes.
    var text: String {
        let tenths = Int(clamping: (milliseconds * 10).rounded())
        // Bytes, because appending to strings is several times slower, and every request has a line.
        var line: [UInt8] = []
        line.reserveCapacity(256)
        line += "request id=".utf8
        line += id.utf8
        line += " method=".utf8
        line += method.utf8
        line += " path=".utf8
        line += QuotedText.of(path).utf8
        line += " status=".utf8
        line += String(status).utf8
        line += " ms=".utf8
        line += String(tenths / 10).utf8
        line += ".".utf8
        line += String(tenths % 10).utf8
        return String(decoding: line, as: UTF8.self) + (refusal?.text ?? "")
    }

    /// The line as fields.
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

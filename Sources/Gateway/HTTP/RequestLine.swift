import Logging
import MergeCore

/// The line of a request in the log, without values of a client, tokens or queries.
struct RequestLine {
    let id: String
    let method: String
    let path: String
    let status: Int
    let milliseconds: Double
    /// The address of the client; nil if the connection has none.
    var client: String?
    /// Facts about a push or a failed request.
    var facts = FailureNote.Facts()
    /// The device of a push or a failed request.
    var device: String?

    /// The level of the line: a client's fault is a notice, and a fault of the gateway or the database an error.
    var level: Logger.Level {
        switch status {
        case 500...: .error
        case 400...: .notice
        default: .info
        }
    }

    /// The optional facts; client text must be quoted.
    private var details: [(name: String, text: String?, isQuoted: Bool)] {
        [
            ("code", facts.code, false), ("who", facts.who, true), ("device", device, true),
            ("from", client, false), ("resource", facts.resource, false), ("record", facts.record, true),
            ("outcomes", facts.outcomes, false), ("cause", facts.cause, true),
        ]
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
        for (name, text, isQuoted) in details {
            guard let text else { continue }
            line += " ".utf8
            line += name.utf8
            line += "=".utf8
            line += (isQuoted ? QuotedText.of(text) : text).utf8
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// The line as fields.
    var metadata: Logger.Metadata {
        var fields: Logger.Metadata = [
            "id": .string(id), "method": .string(method), "path": .string(path), "status": .stringConvertible(status),
            "ms": .stringConvertible((milliseconds * 10).rounded() / 10),
        ]
        for (name, text, _) in details {
            if let text { fields[name] = .string(text) }
        }
        return fields
    }
}

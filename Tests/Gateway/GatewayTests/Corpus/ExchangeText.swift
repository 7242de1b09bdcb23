import Foundation
import TestSupport

/// Exchanges as lines of text.
///
/// ```
/// # merge people
/// > POST /v1/merge/people {"id":1,"changeset":{}}
/// | X-Device-ID: till
/// < 200 {"key":null,"revision":null}
/// + idempotent-replayed: true
/// ```
///
/// `#` begins an exchange, with its lane in brackets if it has one. `|` is a header of the request. `<` begins an
/// answer of every engine of the chapter, `<mariadb` or `<sqlite` that of one. `+` is a header of the answer above.
/// Bytes that are not text, and the sign `¬`, are written as `¬` and two hexadecimal digits.
enum ExchangeText {
    static func write(_ exchanges: [Exchange], to path: String, head: String) throws {
        var lines = [head]
        for exchange in exchanges { lines += self.lines(exchange) }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path))
    }

    private static func lines(_ exchange: Exchange) -> [String] {
        let request = exchange.request
        var lines = ["", "# " + (request.lane > 0 ? "[\(request.lane)] " : "") + request.label]
        let body = request.body.map { " " + text($0) } ?? ""
        lines.append("> \(request.method.rawValue.uppercased()) \(request.target)\(body)")
        lines += request.headers.map { "| \($0.name): \($0.value)" }
        let engines = TestEngine.allCases.filter { exchange.answers[$0] != nil }
        let isShared = Set(engines.map { exchange.answers[$0] }).count == 1
        for engine in isShared ? Array(engines.prefix(1)) : engines {
            guard let answer = exchange.answers[engine] else { continue }
            let parts = answer.lines
            lines.append("<\(isShared ? "" : engine.rawValue) \(parts[0])")
            lines += parts.dropFirst().map { "+ " + $0 }
        }
        return lines
    }

    // MARK: Bytes

    /// The sign before two hexadecimal digits.
    private static let mark = Array("¬".utf8)

    /// Bytes as text of one line.
    static func text(_ bytes: [UInt8]) -> String {
        let text = String(validating: bytes, as: UTF8.self)
        let isPlain = bytes.withUnsafeBufferPointer { bytes in
            bytes.allSatisfy { $0 >= 32 && $0 != 127 && $0 != mark[0] }
        }
        if let text, isPlain { return text }
        var out: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let isMark = byte == mark[0] && index + 1 < bytes.count && bytes[index + 1] == mark[1]
            if byte < 32 || byte == 127 || (byte >= 128 && text == nil) || isMark {
                out += mark + Array(String(UInt16(byte) + 256, radix: 16, uppercase: true).utf8.dropFirst())
            } else {
                out.append(byte)
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    static func bytes(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        var out: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == mark[0], index + 3 < bytes.count, bytes[index + 1] == mark[1],
                let byte = UInt8(String(decoding: bytes[index + 2...index + 3], as: UTF8.self), radix: 16)
            {
                out.append(byte)
                index += 4
            } else {
                out.append(bytes[index])
                index += 1
            }
        }
        return out
    }
}

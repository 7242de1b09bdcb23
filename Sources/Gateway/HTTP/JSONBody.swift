import HTTPTypes
import MergeCore
import NIOCore

extension GatewayContext {
    /// The body of a JSON request, unpacked, within the limit.
    func jsonBody(limit: Int) throws(Problem) -> [UInt8] {
        let type = headers["content-type"]
        guard
            type == "application/json"
                || type?.split(separator: ";").first.map({ $0.trimmingSpaces.lowercased() }) == "application/json"
        else {
            throw Problem(.mediaType, detail: "The body has to be application/json in UTF-8.")
        }
        let encoding = headers["content-encoding"]?.trimmingSpaces.lowercased() ?? "identity"
        guard encoding == "identity" || encoding == "gzip" else {
            throw Problem(.contentEncoding, detail: "The body may be packed with gzip, or not at all.")
        }
        let buffer: ByteBuffer
        do throws(BodyFault) {
            buffer = try body.get()
        } catch {
            throw error == .tooLarge ? Self.tooLarge(limit) : Self.tooSlow
        }
        guard buffer.readableBytes <= limit else { throw Self.tooLarge(limit) }
        return try buffer.withUnsafeReadableBytes { bytes throws(Problem) in
            guard encoding == "gzip" else { return [UInt8](bytes) }
            do throws(Gzip.Failure) {
                return try Gzip.unpack(bytes, limit: limit)
            } catch {
                throw error == .tooLarge ? Self.tooLarge(limit) : Self.notGzip
            }
        }
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.tooLarge, detail: "A body may have \(limit) bytes.")
    }

    private static let tooSlow = Problem(
        .requestTimeout, detail: "The whole body has to arrive before the time of the request is over.")

    private static let notGzip = Problem(
        .notGzip, detail: "The body says Content-Encoding: gzip and cannot be unpacked.")
}

extension StringProtocol {
    var trimmingSpaces: String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text = text.dropFirst() }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }
}

import HTTPTypes
import MergeCore
import NIOCore

extension GatewayContext {
    /// Returns the uncompressed body of a JSON request within the limit.
    func jsonBody(limit: Int) throws(Problem) -> [UInt8] {
        let type = headers["content-type"]
        guard
            type == "application/json"
                || type?.split(separator: ";").first.map({ $0.trimmingSpaces.lowercased() }) == "application/json"
        else {
            throw Problem(.mediaType, detail: "The body must be application/json in UTF-8.")
        }
        let encoding = headers["content-encoding"]?.trimmingSpaces.lowercased() ?? "identity"
        // An older name of gzip (RFC 9110 section 8.4.1.3).
        let isPacked = encoding == "gzip" || encoding == "x-gzip"
        guard isPacked || encoding == "identity" else {
            throw Problem(.contentEncoding, detail: "Content-Encoding must be gzip or absent.")
        }
        let buffer: ByteBuffer
        do throws(BodyFault) {
            buffer = try received.body.get()
        } catch {
            switch error {
            case .tooLarge: throw Self.tooLarge(limit)
            case .tooSlow: throw Self.tooSlow
            case .unwanted(let problem): throw problem
            }
        }
        guard buffer.readableBytes <= limit else { throw Self.tooLarge(limit) }
        return try buffer.withUnsafeReadableBytes { bytes throws(Problem) in
            guard isPacked else {
                guard received.lease?.take(bytes.count) ?? true else { throw ByteBudget.overloaded }
                return [UInt8](bytes)
            }
            do throws(Gzip.Failure) {
                let unpacked = try Gzip.unpack(bytes, limit: limit)
                guard received.lease?.take(unpacked.count) ?? true else { throw Gzip.Failure.noMemory }
                return unpacked
            } catch {
                if error == .noMemory { throw ByteBudget.overloaded }
                throw error == .tooLarge ? Self.tooLarge(limit) : Self.notGzip
            }
        }
    }

    private static func tooLarge(_ limit: Int) -> Problem {
        Problem(.tooLarge, detail: "A body may have \(limit) bytes at most.")
    }

    private static let tooSlow = Problem(
        .requestTimeout, detail: "The body arrived too slowly. It must grow by at least 1 kB a second.")

    private static let notGzip = Problem(
        .notGzip, detail: "The body has Content-Encoding: gzip but is not valid gzip.")
}

extension StringProtocol {
    var trimmingSpaces: String {
        let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = Array(utf8.drop(while: isSpace))
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}

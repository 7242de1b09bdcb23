import HTTPTypes
import Hummingbird
import MergeCore
import NIOCore

extension Request {
    /// The body of a JSON request, unpacked, within the limit.
    func readJSON(_ headers: RequestHeaders, limit: Int) async throws -> [UInt8] {
        let type = headers["content-type"]
        guard
            type == "application/json"
                || type?.split(separator: ";").first.map({ $0.trimmingSpaces.lowercased() }) == "application/json"
        else {
            throw Problem(
                status: 415, code: "media-type", title: "Unsupported media type",
                detail: "The body has to be application/json in UTF-8.")
        }
        let encoding = headers["content-encoding"]?.trimmingSpaces.lowercased() ?? "identity"
        guard encoding == "identity" || encoding == "gzip" else {
            throw Problem(
                status: 415, code: "content-encoding", title: "Unsupported content encoding",
                detail: "The body may be packed with gzip, or not at all.")
        }
        let tooLarge = Problem(
            status: 413, code: "too-large", title: "The body is too large",
            detail: "A body may have \(limit) bytes.")
        let buffer: ByteBuffer
        do {
            buffer = try await collect()
        } catch is NIOTooManyBytesError {
            throw tooLarge
        } catch is BodyTimeout {
            throw Self.tooSlow
        }
        guard buffer.readableBytes <= limit else { throw tooLarge }
        return try buffer.withUnsafeReadableBytes { bytes in
            guard encoding == "gzip" else { return [UInt8](bytes) }
            do throws(Gzip.Failure) {
                return try Gzip.unpack(bytes, limit: limit)
            } catch {
                throw error == .tooLarge
                    ? tooLarge
                    : Problem(
                        status: 400, code: "not-gzip", title: "The body is not gzip",
                        detail: "The body says Content-Encoding: gzip and cannot be unpacked.")
            }
        }
    }

    /// The body as it arrived; one that is too large or too slow throws when it is read.
    private func collect() async throws -> ByteBuffer {
        var whole = ByteBuffer()
        for try await piece in body {
            if whole.readableBytes == 0 { whole = piece } else { whole.writeImmutableBuffer(piece) }
        }
        return whole
    }

    private static let tooSlow = Problem(
        status: 408, code: "request-timeout", title: "The body came too slowly",
        detail: "The whole body has to arrive before the time of the request is over.")

    /// One member of the query, as it stands in the URL; nil where it is missing.
    func query(_ name: String) -> Substring? {
        guard let query = uri.query else { return nil }
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.first.map(String.init) == name { return parts.count > 1 ? parts[1] : "" }
        }
        return nil
    }

    /// A part of the path as it stands in the URL, not decoded; nil where there is none.
    ///
    /// - Parameter position: counted from 0 behind the first slash.
    func rawPath(_ position: Int) -> Substring? {
        guard let path = head.path?.utf8 else { return nil }
        let end = path.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.endIndex
        var rest = path[..<end]
        for _ in 0...position {
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[rest.index(after: slash)...]
        }
        return Substring(rest.prefix { $0 != UInt8(ascii: "/") })
    }
}

extension StringProtocol {
    var trimmingSpaces: String {
        var text = Substring(self)
        while text.first == " " || text.first == "\t" { text = text.dropFirst() }
        while text.last == " " || text.last == "\t" { text = text.dropLast() }
        return String(text)
    }
}

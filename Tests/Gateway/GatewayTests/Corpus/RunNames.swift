import TestSupport

/// Replaces everything in a recorded text that differs between two equal runs.
///
/// Keys of the database and numbers of journal entries have gaps after a rollback, so each is recorded as the next
/// number of its table when an answer first contains it. Tables begin at 100001, 200001 and so on, the journal at
/// 900001. The version of the rules is `{version}`. Each `ETag` is `"e1"`, `"e2"` in the order of appearance. Each
/// digest of a private value, whose key is random, is `hmac-sha256:1`, `hmac-sha256:2`. The time of a journal entry,
/// the name of the feed and its revision are `…`.
struct RunNames {
    private let version: [UInt8]
    private var recorded: [Int: Int] = [:]
    private var actual: [Int: Int] = [:]
    private var counts: [Int: Int] = [:]
    private var tags: [String] = []
    private var digests: [ArraySlice<UInt8>] = []

    private static let digest = Array("hmac-sha256:".utf8)
    private static let version = Array("{version}".utf8)
    private static let moment = Array(#""at":""#.utf8)
    private static let feed = Array(#""feed":""#.utf8)
    private static let revisions = [Array(#"","revision":"#.utf8), Array(#"","earliest":"#.utf8)]

    /// - Parameter version: the version of the rules that are served.
    init(version: String) {
        self.version = Array(version.utf8)
    }

    /// - Returns: a body as it is recorded.
    mutating func hide(_ body: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(body.count)
        var index = 0
        while index < body.count {
            if Self.holds(body, Self.moment, at: index) {
                out += Self.moment + Array("…".utf8)
                index += Self.moment.count
                while index < body.count, body[index] != UInt8(ascii: "\"") { index += 1 }
            } else if let (end, revision) = Self.endOfPosition(body, at: index) {
                out += Self.feed + Array("…".utf8) + revision + Array("0".utf8)
                index = end
            } else if body[index] == UInt8(ascii: "\""), Self.holds(body, version, at: index + 1) {
                out.append(body[index])
                out += Self.version
                index += 1 + version.count
            } else if Self.holds(body, Self.digest, at: index), index + Self.digest.count + 64 <= body.count {
                index += Self.digest.count
                out += Self.digest + Array(String(recordedDigest(body[index..<index + 64])).utf8)
                index += 64
            } else if let number = Self.number(body, at: index) {
                out += Array(String(recordedNumber(number)).utf8)
                index += 6
            } else {
                out.append(body[index])
                index += 1
            }
        }
        return out
    }

    /// The ends of a feed's name and its revision, and the text between them; nil if there is none.
    private static func endOfPosition(_ body: [UInt8], at index: Int) -> (end: Int, between: [UInt8])? {
        let name = index + feed.count
        guard holds(body, feed, at: index),
            let revision = revisions.first(where: { holds(body, $0, at: name + 16) })
        else { return nil }
        var end = name + 16 + revision.count
        while end < body.count, (48...57).contains(body[end]) { end += 1 }
        return (end, revision)
    }

    mutating func hideTag(_ tag: String) -> String {
        if !tags.contains(tag) { tags.append(tag) }
        return "\"e\(1 + (tags.firstIndex(of: tag) ?? 0))\""
    }

    private mutating func recordedDigest(_ digest: ArraySlice<UInt8>) -> Int {
        if !digests.contains(digest) { digests.append(digest) }
        return 1 + (digests.firstIndex(of: digest) ?? 0)
    }

    private mutating func recordedNumber(_ number: Int) -> Int {
        if let known = recorded[number] { return known }
        let table = number / 100_000
        counts[table, default: 0] += 1
        let name = table * 100_000 + (counts[table] ?? 0)
        recorded[number] = name
        actual[name] = number
        return name
    }

    /// - Returns: a recorded target, header or body as it is sent.
    func reveal(_ text: [UInt8]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if Self.holds(text, Self.version, at: index) {
                out += version
                index += Self.version.count
            } else if let number = Self.number(text, at: index) {
                out += Array(String(actual[number] ?? number).utf8)
                index += 6
            } else {
                out.append(text[index])
                index += 1
            }
        }
        return out
    }

    func reveal(_ text: String) -> String { String(decoding: reveal(Array(text.utf8)), as: UTF8.self) }

    func revealTags(_ text: String) -> String {
        tags.enumerated().reduce(text) { text, tag in
            text.replacing("\"e\(tag.offset + 1)\"", with: tag.element)
        }
    }

    // MARK: Finding

    private static func holds(_ bytes: [UInt8], _ wanted: [UInt8], at start: Int) -> Bool {
        guard start + wanted.count <= bytes.count, bytes[start] == wanted[0] else { return false }
        return bytes[start..<start + wanted.count].elementsEqual(wanted)
    }

    /// - Returns: the number of six digits at a position, if the database or the journal may have assigned it.
    private static func number(_ bytes: [UInt8], at start: Int) -> Int? {
        guard isDigit(bytes[start]), start + 6 <= bytes.count else { return nil }
        if start > 0, isPart(bytes[start - 1]) || bytes[start - 1] == UInt8(ascii: ".") { return nil }
        var number = 0
        for index in start..<start + 6 {
            guard isDigit(bytes[index]) else { return nil }
            number = number * 10 + Int(bytes[index] - 48)
        }
        let end = start + 6
        if end < bytes.count, isPart(bytes[end]) { return nil }
        if end + 1 < bytes.count, bytes[end] == UInt8(ascii: "."), isDigit(bytes[end + 1]) { return nil }
        return (1..<50_000).contains(number % 100_000) && number > 100_000 ? number : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

    private static func isPart(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || byte == UInt8(ascii: "_")
    }
}

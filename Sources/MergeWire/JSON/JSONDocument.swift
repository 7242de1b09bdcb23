internal import CJansson
import MergeCore

/// A body that Jansson has parsed, valid during a closure.
enum JSONDocument {
    /// Parses a body.
    ///
    /// - Throws: a 400 `Problem` if the body is not JSON, a 413 `Problem` if it needs too much memory, and errors of
    ///   `body`.
    static func parse<Answer>(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, maximumMemory: Int = .max,
        _ body: (JSONNode) throws(Problem) -> Answer
    ) throws(Problem) -> Answer {
        try JSONMemory.scope(limit: maximumMemory) { () throws(Problem) -> Answer in
            try parseInScope(bytes, maximumDepth: maximumDepth, body)
        }
    }

    /// Reads JSON that the journal or the gateway itself wrote, or returns nil if it is damaged.
    static func stored<Answer>(_ bytes: [UInt8], _ body: (JSONNode) -> Answer) -> Answer? {
        try? bytes.withUnsafeBytes { bytes throws(Problem) in
            try parse(bytes, maximumDepth: 2_000) { root throws(Problem) in body(root) }
        }
    }

    private static func parseInScope<Answer>(
        _ bytes: UnsafeRawBufferPointer, maximumDepth: Int, _ body: (JSONNode) throws(Problem) -> Answer
    ) throws(Problem) -> Answer {
        let guarded = try NumberGuard(bytes, maximumDepth: maximumDepth)
        var error = json_error_t()
        let flags = Int(JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY)
        let root: UnsafeMutablePointer<json_t>?
        if let text = guarded.rewritten {
            root = text.withUnsafeBytes { load($0, flags: flags, &error) }
        } else {
            root = load(bytes, flags: flags, &error)
        }
        // The scope frees the memory of a partly parsed document.
        guard let root else { throw JSONMemory.isSpent ? tooMany : problem(error) }
        return try guarded.numbers.withUnsafeBufferPointer { numbers throws(Problem) in
            try body(JSONNode(root, numbers))
        }
    }

    private static let tooMany = Problem(
        .tooLarge,
        detail: "The body contains more values or names than the gateway has memory for. Send it in several parts.")

    private static func load(
        _ bytes: UnsafeRawBufferPointer, flags: Int, _ error: inout json_error_t
    ) -> UnsafeMutablePointer<json_t>? {
        json_loadb(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, flags, &error)
    }

    private static func problem(_ error: json_error_t) -> Problem {
        let text = withUnsafeBytes(of: error.text) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        var copy = error
        let isDuplicate = json_error_code(&copy) == json_error_duplicate_key
        return Problem(
            isDuplicate ? .duplicateMember : .notJSON,
            detail: "\(text), in line \(error.line), column \(error.column).")
    }
}

/// A value of a parsed body, valid during the document's closure.
struct JSONNode {
    private let raw: UnsafeMutablePointer<json_t>
    private let numbers: UnsafeBufferPointer<Scalar>

    fileprivate init(_ raw: UnsafeMutablePointer<json_t>, _ numbers: UnsafeBufferPointer<Scalar>) {
        self.raw = raw
        self.numbers = numbers
    }

    var isNull: Bool { raw.pointee.type == JSON_NULL }
    var isObject: Bool { raw.pointee.type == JSON_OBJECT }
    var isArray: Bool { raw.pointee.type == JSON_ARRAY }

    var string: String? { utf8.map { String(decoding: $0, as: UTF8.self) } }

    /// Compares bytes.
    func isText(_ text: String) -> Bool { string.map { $0.isExactly(text) } ?? false }

    var utf8: UnsafeBufferPointer<UInt8>? {
        guard raw.pointee.type == JSON_STRING, let start = json_string_value(raw) else { return nil }
        return Self.bytes(start, count: json_string_length(raw))
    }

    private static func bytes(_ start: UnsafePointer<CChar>, count: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
    }

    /// The value as a scalar, including the elements of arrays and the members of objects.
    var scalar: Scalar {
        switch raw.pointee.type {
        case JSON_NULL: return .null
        case JSON_TRUE: return .boolean(true)
        case JSON_FALSE: return .boolean(false)
        case JSON_STRING: return .text(string ?? "")
        case JSON_INTEGER:
            let value = Int64(json_integer_value(raw))
            // The lowest integers are indices of replaced numbers.
            let index = value.subtractingReportingOverflow(Int64.min)
            if !index.overflow, index.partialValue < numbers.count { return numbers[Int(index.partialValue)] }
            return .integer(value)
        case JSON_REAL:
            return ExactDecimal(shortest: json_real_value(raw)).map { .number($0) } ?? .null
        case JSON_ARRAY: return .array(elements.map(\.scalar))
        default: return .object(members.map { ScalarMember(name: $0.name.string, value: $0.value.scalar) })
        }
    }

    var count: Int { isArray ? json_array_size(raw) : isObject ? json_object_size(raw) : 0 }

    var elements: [JSONNode] {
        (0..<json_array_size(raw)).compactMap { index in
            json_array_get(raw, index).map { JSONNode($0, numbers) }
        }
    }

    subscript(name: String) -> JSONNode? {
        guard isObject else { return nil }
        // An implicit conversion to a C string would copy the name into an array.
        var name = name
        let found = name.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { json_object_getn(raw, $0.baseAddress, $0.count) }
        }
        return found.map { JSONNode($0, numbers) }
    }

    /// The members of an object in their order.
    var members: [(name: ExactText, value: JSONNode)] {
        var out: [(name: ExactText, value: JSONNode)] = []
        out.reserveCapacity(isObject ? json_object_size(raw) : 0)
        forEachMember { name, value in out.append((ExactText(String(decoding: name, as: UTF8.self)), value)) }
        return out
    }

    /// Calls `body` for each member of an object in order, with the bytes of its name.
    func forEachMember(_ body: (UnsafeBufferPointer<UInt8>, JSONNode) -> Void) {
        guard isObject else { return }
        var iterator = json_object_iter(raw)
        while let current = iterator {
            if let key = json_object_iter_key(current), let value = json_object_iter_value(current) {
                body(Self.bytes(key, count: json_object_iter_key_len(current)), JSONNode(value, numbers))
            }
            iterator = json_object_iter_next(raw, current)
        }
    }

    /// Calls `body` for each element of an array, without an allocation.
    func forEachElement(_ body: (JSONNode) -> Void) {
        for index in 0..<json_array_size(raw) {
            if let element = json_array_get(raw, index) { body(JSONNode(element, numbers)) }
        }
    }
}

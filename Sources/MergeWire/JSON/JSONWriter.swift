import MergeCore

/// Writes JSON directly into a buffer, without a tree.
///
/// Strings and numbers have the form of RFC 8785, so a value is the same in an answer and in canonical JSON.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    init(capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    mutating func object(_ body: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "{"))
        body(&self)
        end(UInt8(ascii: "}"))
    }

    mutating func array(_ body: (inout JSONWriter) -> Void) {
        begin(UInt8(ascii: "["))
        body(&self)
        end(UInt8(ascii: "]"))
    }

    /// Opens an object or array that the caller closes with `end(_:)`.
    mutating func begin(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
    }

    mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Ends a line, after which another value may follow (NDJSON).
    mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// Returns the bytes since the last call.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    /// Writes the name of a member, before its value.
    mutating func name(_ name: String) {
        separate()
        quote(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a name that needs no escape.
    mutating func member(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    mutating func field(_ field: Field) {
        separate()
        bytes.append(contentsOf: field.quotedName)
        needsComma = false
    }

    mutating func null() { raw("null") }

    mutating func flag(_ flag: Bool) { raw(flag ? "true" : "false") }

    mutating func integer(_ number: Int) { raw(String(number)) }

    mutating func string(_ text: String) {
        separate()
        quote(text)
    }

    /// Writes text that is already JSON.
    mutating func raw(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    /// Writes bytes that are already JSON.
    mutating func raw(_ json: [UInt8]) {
        separate()
        bytes.append(contentsOf: json)
    }

    /// Writes the members of an object that is already JSON.
    mutating func members(_ object: [UInt8]) {
        separate()
        bytes.append(contentsOf: object.dropFirst().dropLast())
    }

    /// Writes bytes as a string; they must need no escape.
    mutating func plainString(_ text: [UInt8]) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text)
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func quote(_ text: String) { JSONQuoting.append(text, to: &bytes) }
}

import MergeCore

extension JSONValue {
    /// The value as JSON, members sorted by their names.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The same in UTF-8.
    package var bytes: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }

    /// Appends the value as JSON.
    package func write(to out: inout [UInt8]) {
        switch self {
        case .null: out.append(contentsOf: "null".utf8)
        case .bool(let flag): out.append(contentsOf: (flag ? "true" : "false").utf8)
        case .integer(let whole): out.append(contentsOf: String(whole).utf8)
        case .double(let number):
            // JSON has no word for what is not finite; such a value is refused before it comes here.
            out.append(contentsOf: number.isFinite ? ShortestNumber.text(number).utf8 : "null".utf8)
        case .string(let text): JSONQuoting.append(text, to: &out)
        case .array(let elements):
            out.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                element.write(to: &out)
            }
            out.append(UInt8(ascii: "]"))
        case .object(let members):
            out.append(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { out.append(UInt8(ascii: ",")) }
                JSONQuoting.append(member.key, to: &out)
                out.append(UInt8(ascii: ":"))
                member.value.write(to: &out)
            }
            out.append(UInt8(ascii: "}"))
        }
    }

    /// Reads JSON; nil if the text is none.
    public init?(text: String) {
        var text = text
        guard let value = text.withUTF8({ JSONReader.read($0) }) else { return nil }
        self = value
    }

    /// Reads JSON in UTF-8; nil if the bytes are none.
    package init?(bytes: some Sequence<UInt8>) {
        let found = bytes.withContiguousStorageIfAvailable { JSONReader.read($0) }
        guard let value = found ?? Array(bytes).withUnsafeBufferPointer({ JSONReader.read($0) }) else { return nil }
        self = value
    }
}

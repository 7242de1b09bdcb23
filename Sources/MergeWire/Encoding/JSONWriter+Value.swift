import MergeCore

extension JSONWriter {
    private static let safeInteger: Int128 = 1 << 53

    /// Writes a value in the form of its column's type (Protocol.md, section 2).
    mutating func value(_ value: Value, _ style: ValueStyle) {
        switch value {
        case .null: null()
        case .boolean(let flag): self.flag(flag)
        case .integer(let number):
            if number.magnitude <= UInt128(Self.safeInteger) { raw(String(number)) } else { string(String(number)) }
        case .decimal(let number): string(number.text(scale: style.scale))
        case .float(let number): raw(ShortestNumber.text(number))
        case .double(let number): raw(ShortestNumber.text(number))
        case .text(let text): string(text.string)
        case .members(let members):
            array { writer in
                for member in members { writer.string(member.string) }
            }
        case .date(let date): string(date.text)
        case .dateTime(let moment):
            let text = moment.text(separator: "T", fraction: style.fractionDigits)
            string(style.isUTC ? text + "Z" : text)
        case .time(let span): string(span.text(fraction: style.fractionDigits))
        case .bytes(let data): plainString(Base64.encode(data))
        case .json(let tree): raw(tree.text)
        case .address(let address): string(address.text)
        }
    }

    /// Writes a key: bare if it has one part, else as an array.
    mutating func key(_ key: RecordKey, _ section: Section) {
        if key.parts.count == 1 {
            value(key.parts[0], section.columns[0].style)
        } else {
            array { writer in
                for (part, column) in zip(key.parts, section.columns) { writer.value(part, column.style) }
            }
        }
    }

    mutating func label(_ label: RowLabel, _ section: Section) {
        switch label {
        case .key(let key): self.key(key, section)
        case .temporary(let id):
            if id.text.hasPrefix("-") { raw(id.text) } else { string(id.text) }
        }
    }
}

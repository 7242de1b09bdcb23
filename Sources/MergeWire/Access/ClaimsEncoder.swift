package import MergeCore

/// Writes the claims of a token.
package enum ClaimsEncoder {
    /// Returns a JSON object of members, and of the claims with other names.
    package static func encode(_ members: [(String, Scalar)], beside claims: AccessClaims) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in members { write(name, value, to: &writer) }
            for name in claims.names where !members.contains(where: { $0.0.isExactly(name.string) }) {
                if let value = claims[name.string] { write(name.string, value, to: &writer) }
            }
        }
        return writer.bytes
    }

    private static func write(_ name: String, _ value: Scalar, to writer: inout JSONWriter) {
        writer.name(name)
        write(value, to: &writer)
    }

    private static func write(_ value: Scalar, to writer: inout JSONWriter) {
        switch value {
        case .null: writer.null()
        case .boolean(let flag): writer.flag(flag)
        case .integer(let number): writer.raw(String(number))
        case .number(let number): writer.raw(number.text)
        case .vast(let number): writer.raw(number.text)
        case .text(let text): writer.string(text)
        case .array(let elements): writer.array { for element in elements { write(element, to: &$0) } }
        case .object(let members):
            writer.object { for member in members { write(member.name, member.value, to: &$0) } }
        }
    }
}

import Crypto
import MergeCore
import MergeWire
import Testing

/// The canonical JSON of RFC 8785, with the examples of the RFC that apply.
@Suite struct CanonicalJSONTests {
    private static func section(_ fields: [(String, ColumnType)]) -> Section {
        Section(
            name: "s", kind: .root,
            table: SectionTable(
                TableName(name: "t"), columns: fields.map { Column(name: $0.0, type: $0.1, isNullable: true) },
                keyCount: 0),
            fields: SectionFields(
                fields.indices.map { Field(name: fields[$0].0, column: $0) },
                groups: [Group(name: "g", fields: 0..<fields.count, onConflict: Ruled(.clientWins))]))
    }

    private static func text(_ fields: [(String, ColumnType)], _ values: [Value]) -> String {
        String(decoding: CanonicalJSON.encode(section(fields), group: 0, values: values), as: UTF8.self)
    }

    /// RFC 8785 appendix B, as far as the numbers are finite.
    @Test(
        "Numbers have the form of ECMAScript",
        arguments: [
            (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
            (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
            (0x3EB0_C6F7_A0B5_ED8D, "0.000001"), (0x41B3_DE43_5555_5553, "333333333.3333332"),
            (0xBECB_F647_612F_3696, "-0.0000033333333333333333"), (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
        ] as [(UInt64, String)])
    func numbers(_ bits: UInt64, _ expected: String) {
        let text = Self.text([("d", .double(isUnsigned: false))], [.double(Double(bitPattern: bits))])
        #expect(text == expected)
    }

    @Test("Members are sorted, and strings are escaped")
    func members() {
        let type = ColumnType.text(TextType())
        let names = ["\u{20ac}", "\r", "1", "\u{1F600}", "\u{80}"]
        let values = names.map { Value.text(ExactText("v" + $0)) }
        let sorted = ["\\r", "1", "\u{80}", "\u{20ac}", "\u{1F600}"]
        #expect(
            Self.text(names.map { ($0, type) }, values)
                == "{" + sorted.map { "\"\($0)\":\"v\($0)\"" }.joined(separator: ",") + "}")
        #expect(
            Self.text([("t", type)], [.text(ExactText("\u{0}\u{1F}\"\\/é\u{2028}"))])
                == "\"\\u0000\\u001f\\\"\\\\/é\u{2028}\"")
    }

    @Test("The digest is that of the bytes")
    func digest() {
        let section = Self.section([("a", .text(TextType())), ("b", .boolean)])
        let values: [Value] = [.text(ExactText("x")), .boolean(true)]
        #expect(
            CanonicalJSON.digest(section, group: 0, values: values)
                == Array(SHA256.hash(data: Array(#"{"a":"x","b":true}"#.utf8))))
    }
}

import MergeCore
import RecordStore
import Testing

/// The hash under which rows are compared.
@Suite struct SipHashTests {
    private static let key = SipHash.Key(low: 0x0706_0504_0302_0100, high: 0x0f0e_0d0c_0b0a_0908)

    /// The published values: the message is 0, 1, 2, … of so many bytes.
    @Test(
        "The hashes are the published ones",
        arguments: [
            (0, 0x726f_db47_dd0e_0e31), (1, 0x74f8_39c5_93dc_67fd), (2, 0x0d6c_8009_d9a9_4f5a),
            (7, 0xab02_00f5_8b01_d137), (8, 0x93f5_f579_9a93_2462), (15, 0xa129_ca61_49be_45e5),
        ] as [(Int, UInt64)])
    func publishedValues(_ length: Int, _ value: UInt64) {
        #expect(SipHash.hash((0..<length).map { UInt8($0) }, key: Self.key) == value)
    }

    private static func row(_ fill: (inout RowHash) -> Void) -> UInt64 {
        var hash = RowHash(key: key)
        fill(&hash)
        return hash.finish()
    }

    private static func text(_ text: String, into hash: inout RowHash) {
        Array(text.utf8).withUnsafeBytes { hash.combine($0) }
    }

    /// Rows that would have one digest if their texts were joined.
    @Test("Different rows have different digests")
    func distinctRows() {
        let rows = [
            Self.row {
                $0.combineNull(); Self.text("", into: &$0)
            },
            Self.row {
                Self.text("", into: &$0); $0.combineNull()
            },
            Self.row {
                Self.text("a", into: &$0); Self.text("bc", into: &$0)
            },
            Self.row {
                Self.text("ab", into: &$0); Self.text("c", into: &$0)
            },
            Self.row {
                Self.text("a|b", into: &$0); Self.text("c", into: &$0)
            },
            Self.row {
                Self.text("a", into: &$0); Self.text("b|c", into: &$0)
            },
            Self.row {
                $0.combine(Int64(1)); $0.combineNull()
            },
            Self.row {
                $0.combineNull(); $0.combine(Int64(1))
            },
            Self.row {
                Self.text("a\0", into: &$0); Self.text("", into: &$0)
            },
            Self.row {
                Self.text("a", into: &$0); Self.text("", into: &$0)
            },
            Self.row { $0.combine(Float(16_777_216)) }, Self.row { $0.combine(Float(16_777_218)) },
            Self.row { $0.combine(Int64(-1)) }, Self.row { $0.combine(unsigned: .max) },
            Self.row { $0.combine(0.0) }, Self.row { $0.combine(-0.0) },
        ]
        #expect(Set(rows).count == rows.count)
    }

    /// One flag set in two rows, and two rows that exchange values: a sum of linear digests does not change.
    @Test("A sum of digests changes if a linear sum does not")
    func sums() {
        func sum(_ rows: [(Int64, Int64)]) -> UInt64 {
            rows.reduce(0) { sum, row in
                sum
                    &+ Self.row {
                        $0.combine(row.0); $0.combine(row.1)
                    }
            }
        }
        #expect(sum([(1, 0), (2, 0)]) != sum([(1, 1), (2, 1)]))
        #expect(sum([(1, 5), (2, 7)]) != sum([(1, 7), (2, 5)]))
    }

    @Test("Packed values can be read")
    func packedValues() throws {
        let columns = [
            Column(name: "a", type: .integer(-9...9), isNullable: false),
            Column(name: "b", type: .text(TextType()), isNullable: true),
            Column(name: "c", type: .date, isNullable: false),
            Column(name: "d", type: .bytes(maximum: nil), isNullable: false),
        ]
        for number in [0, 1, -1, Int128(Int64.max), Int128(Int64.min), Int128(UInt64.max)] {
            for text in [Value.null, .text(ExactText("")), .text(ExactText("é\0b"))] {
                let values = [
                    .integer(number), text, try #require(try? ColumnType.date.accept(.text("2026-11-20"))),
                    .bytes([0, 255]),
                ]
                let bytes = try #require(PackedValues.bytes(values, of: columns))
                #expect(PackedValues.values(bytes, of: columns) == values)
                #expect(PackedValues.values(bytes.dropLast(), of: columns) == nil)
            }
        }
    }

    @Test("Row digests and tags can be read")
    func marksAndTags() {
        let marks = [
            Mark(key: [1, 2], digest: 7, link: []),
            Mark(key: Array(repeating: 9, count: 300), digest: .max, link: [3], tag: ConditionTag([1, 2, 3])),
        ]
        #expect(Mark.marks(Mark.bytes(marks)) == marks)
        #expect(Mark.marks(Array(Mark.bytes(marks).dropLast())) == nil)
        let tags = ConditionTags(tags: [[], [ConditionTag([1]), ConditionTag([2, 3])]])
        #expect(tags.bytes.flatMap { ConditionTags(bytes: $0) } == tags)
        #expect(ConditionTags(tags: [[], []]).bytes == nil)
    }
}

import MergeCore
import RecordStore
import Testing
import TestSupport

/// The form in which a scan keeps keys.
@Suite struct PackedValuesTests {
    /// A type that a key can have, with random values of it.
    struct KeyType: Sendable, CustomTestStringConvertible {
        let type: ColumnType
        let make: @Sendable (inout SeededRandom) -> Value

        init(_ type: ColumnType, _ make: @escaping @Sendable (inout SeededRandom) -> Value) {
            self.type = type
            self.make = make
        }

        var testDescription: String { "\(type)" }

        func column(foreign: ForeignValues = .none) -> Column {
            Column(name: "k", type: type, isNullable: true, foreign: foreign)
        }
    }

    private static func integer(_ low: Int128, _ high: Int128) -> @Sendable (inout SeededRandom) -> Value {
        { random in
            let numbers: [Int128] = [low, high, 0, Int128.random(in: low...high, using: &random)]
            return .integer(numbers.randomElement(using: &random) ?? low)
        }
    }

    private static func text(_ random: inout SeededRandom) -> Value {
        let characters = Array("aA ä€😀\0,%'-0")
        let count = Int.random(in: 0...12, using: &random)
        return .text(ExactText(String((0..<count).map { _ in characters.randomElement(using: &random) ?? "a" })))
    }

    private static func bytes(_ random: inout SeededRandom) -> Value {
        .bytes((0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// Also dates with a zero month or day.
    private static func day(_ random: inout SeededRandom) -> CalendarDate {
        CalendarDate(
            year: Int.random(in: 0...9_999, using: &random), month: Int.random(in: 0...12, using: &random),
            day: Int.random(in: 0...28, using: &random)) ?? .zero
    }

    private static func moment(_ step: Int64) -> @Sendable (inout SeededRandom) -> Value {
        { random in
            let last = DateTime.microsecondsPerDay / step - 1
            let times: [Int64] = [0, last, Int64.random(in: 0...last, using: &random)]
            let time = times.randomElement(using: &random) ?? 0
            return DateTime(date: day(&random), microseconds: time * step).map { .dateTime($0) } ?? .null
        }
    }

    private static func span(_ random: inout SeededRandom) -> Value {
        let some = Int64.random(in: -TimeSpan.limit...TimeSpan.limit, using: &random)
        let lengths: [Int64] = [0, TimeSpan.limit, -TimeSpan.limit, some]
        let length = lengths.randomElement(using: &random) ?? 0
        return TimeSpan(microseconds: length).map { .time($0) } ?? .null
    }

    private static func decimal(_ random: inout SeededRandom) -> Value {
        var text = Bool.random(using: &random) ? "-" : ""
        for _ in 0..<Int.random(in: 1...30, using: &random) { text += String(Int.random(in: 0...9, using: &random)) }
        text += "." + String(Int.random(in: 0...999, using: &random))
        return ExactDecimal(text).map { .decimal($0) } ?? .null
    }

    private static func address(_ random: inout SeededRandom, version6: Bool) -> Value {
        let groups = (0..<8).map { _ in String(UInt16.random(in: 0...UInt16.max, using: &random), radix: 16) }
        let parts = (0..<4).map { _ in String(UInt8.random(in: 0...255, using: &random)) }
        let found =
            version6
            ? NetworkAddress(version6: groups.joined(separator: ":"))
            : NetworkAddress(version4: parts.joined(separator: "."))
        return found.map { .address($0) } ?? .null
    }

    static let types = [
        KeyType(.boolean) { .boolean(Bool.random(using: &$0)) },
        KeyType(.integer(-128...127), integer(-128, 127)),
        KeyType(.integer(Int128(Int64.min)...Int128(Int64.max)), integer(Int128(Int64.min), Int128(Int64.max))),
        KeyType(.integer(0...Int128(UInt64.max)), integer(0, Int128(UInt64.max))),
        KeyType(.bit(64), integer(0, Int128(UInt64.max))), KeyType(.year, integer(0, 2_155)),
        KeyType(.decimal(precision: 40, scale: 3, isUnsigned: false), decimal), KeyType(.numeric(scale: nil), decimal),
        KeyType(.text(TextType()), text), KeyType(.enumeration([ExactText("a"), ExactText("b")]), text),
        KeyType(.uuid, text), KeyType(.date) { .date(day(&$0)) },
        KeyType(.dateTime(fraction: 0), moment(1_000_000)), KeyType(.dateTime(fraction: 6), moment(1)),
        KeyType(.timestamp(fraction: 0, nil), moment(1_000_000)), KeyType(.timestamp(fraction: 6, nil), moment(1)),
        KeyType(.time(fraction: 6), span), KeyType(.binary(16), bytes), KeyType(.bytes(maximum: nil), bytes),
        KeyType(.inet4) { address(&$0, version6: false) }, KeyType(.inet6) { address(&$0, version6: true) },
    ]

    @Test("A key of any type is read as it was written", arguments: types)
    func keys(_ kind: KeyType) throws {
        #expect(PackedValues.holds(kind.type))
        var random = SeededRandom(seed: 7)
        var written: [[UInt8]: Value] = [:]
        for _ in 0..<2_000 {
            let value = Int.random(in: 0..<50, using: &random) == 0 ? .null : kind.make(&random)
            let bytes = try #require(PackedValues.bytes([value], of: [kind.column()]))
            #expect(PackedValues.values(bytes, of: [kind.column()]) == [value])
            // Equal bytes are equal values. The reverse follows from reading them.
            if let known = written[bytes] { #expect(known == value) }
            written[bytes] = value
        }
        #expect(Set(written.values).count == written.count)
    }

    @Test("A key of several columns is read as it was written")
    func compositeKeys() throws {
        var random = SeededRandom(seed: 11)
        for _ in 0..<2_000 {
            let kinds = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Self.types.randomElement(using: &random) ?? Self.types[0]
            }
            let values = kinds.map { $0.make(&random) }
            let columns = kinds.map { $0.column() }
            let bytes = try #require(PackedValues.bytes(values, of: columns))
            #expect(PackedValues.values(bytes, of: columns) == values)
            // A cut key is no key.
            #expect(PackedValues.values(bytes.dropLast(), of: columns) == nil)
        }
    }

    @Test("A key does not change when its column gets a finer fraction")
    func finerFraction() throws {
        var random = SeededRandom(seed: 3)
        for _ in 0..<200 {
            let value = Self.moment(1_000_000)(&random)
            for types in [
                [ColumnType.dateTime(fraction: 0), .dateTime(fraction: 3)],
                [.timestamp(fraction: 0, nil), .timestamp(fraction: 6, nil)],
            ] {
                let columns = types.map { Column(name: "k", type: $0, isNullable: false) }
                let bytes = try #require(PackedValues.bytes([value], of: [columns[0]]))
                #expect(PackedValues.bytes([value], of: [columns[1]]) == bytes)
                #expect(PackedValues.values(bytes, of: [columns[1]]) == [value])
            }
        }
    }

    @Test("A key of a column whose type has changed is not read")
    func otherType() throws {
        for kind in Self.types {
            var random = SeededRandom(seed: 5)
            let value = kind.make(&random)
            let bytes = try #require(PackedValues.bytes([value], of: [kind.column()]))
            for other in Self.types where other.type.isForeign(value) {
                #expect(PackedValues.values(bytes, of: [other.column()]) == nil)
                // SQLite columns may contain values of any type.
                #expect(PackedValues.values(bytes, of: [other.column(foreign: .any)]) == [value])
            }
        }
    }

    @Test("A key that a former version wrote as text is still read")
    func formerVersion() {
        func stored(_ text: String) -> [UInt8] { [6, UInt8(text.utf8.count)] + Array(text.utf8) }
        let moment = CalendarDate(year: 2026, month: 11, day: 20)
            .flatMap { DateTime(date: $0, hour: 10, minute: 0, second: 0, microsecond: 0) }.map { Value.dateTime($0) }
        for type in [ColumnType.dateTime(fraction: 0), .timestamp(fraction: 0, nil)] {
            let column = Column(name: "k", type: type, isNullable: false)
            #expect(PackedValues.values(stored("2026-11-20 10:00:00"), of: [column]) == moment.map { [$0] })
        }
        let decimal = Column(name: "k", type: .decimal(precision: 6, scale: 2, isUnsigned: false), isNullable: false)
        #expect(PackedValues.values(stored("1.5"), of: [decimal]) == ExactDecimal("1.5").map { [.decimal($0)] })
    }
}

import MergeCore
import RecordStore
import Testing

@testable import MariaDBStore

/// The server's text is converted to the exact value of the column's type, or is an error.
@Suite struct ColumnWireTests {
    /// A boolean in an integer column is loose, as the rules bind it.
    private static func column(_ type: ColumnType) -> Column {
        Column(name: "c", type: type, isNullable: true, foreign: type == .boolean ? .any : .none)
    }

    private static let whole = ColumnType.integer(-1_000_000...1_000_000)
    private static let decimal = ColumnType.decimal(precision: 30, scale: 2, isUnsigned: false)

    @Test(
        "Each type that contains an integer returns it unchanged",
        arguments: [
            (whole, .integer(61)), (.bit(8), .integer(61)), (.year, .integer(61)), (.boolean, .integer(61)),
            (decimal, .decimal(ExactDecimal(61))), (.float(isUnsigned: false), .float(61)),
            (.double(isUnsigned: false), .double(61)), (.text(TextType()), .text(ExactText("61"))),
        ] as [(ColumnType, Value)])
    func integers(_ type: ColumnType, _ value: Value) throws {
        #expect(try Self.column(type).value(ofWhole: 61) == value)
    }

    @Test("An integer that a type would round is an error")
    func roundedNumbers() {
        for type in [ColumnType.float(isUnsigned: false), .double(isUnsigned: false), .date, .time(fraction: 0)] {
            #expect(throws: StoreError.self) { try Self.column(type).value(ofWhole: 9_007_199_254_740_993) }
        }
    }

    @Test(
        "A decimal under an integer is read exactly",
        arguments: [("6", Int128(6)), ("-12.00", -12), ("123456789012345678901234", 123_456_789_012_345_678_901_234)])
    func exactDecimals(_ text: String, _ number: Int128) throws {
        #expect(try Self.column(Self.whole).value(ofText: text) == .integer(number))
    }

    @Test("A decimal with a fraction is no integer", arguments: ["6.5", "x", ""])
    func fractions(_ text: String) {
        #expect(throws: StoreError.self) { try Self.column(Self.whole).value(ofText: text) }
    }

    @Test("A floating-point number is no text, no decimal and no time")
    func floatingPoint() {
        for type in [Self.whole, Self.decimal, .text(TextType()), .date] {
            #expect(throws: StoreError.self) { try Self.column(type).value(ofDouble: 1.5) }
            #expect(throws: StoreError.self) { try Self.column(type).value(ofFloat: 1.5) }
        }
        #expect(throws: StoreError.self) { try Self.column(.float(isUnsigned: false)).value(ofDouble: 0.1) }
    }
}

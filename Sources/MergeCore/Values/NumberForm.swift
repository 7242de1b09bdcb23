/// The form of a number as JSON spells it (RFC 8259 section 6): `-12`, `0.50`, `1e9`.
///
/// Nothing that only a lenient reader would take is one: no plus sign, no blank, no zero in front, no bare point.
struct NumberForm {
    /// All digits behind the point are zeros; true where there is no point.
    let hasZeroFraction: Bool
    let hasExponent: Bool

    /// Reads a text; nil where it is no number of JSON as a whole.
    init?(_ text: some Sequence<UInt8>) {
        var bytes = text.makeIterator()
        var next = bytes.next()
        /// Takes a run of digits, and returns how many they are, and whether all of them are zeros.
        func digits() -> (count: Int, areZeros: Bool) {
            var taken = (count: 0, areZeros: true)
            while let byte = next, byte >= 48, byte <= 57 {
                taken = (taken.count + 1, taken.areZeros && byte == 48)
                next = bytes.next()
            }
            return taken
        }
        if next == UInt8(ascii: "-") { next = bytes.next() }
        let startsWithZero = next == 48
        let whole = digits().count
        guard whole == 1 || whole > 1 && !startsWithZero else { return nil }
        var fraction = (count: 1, areZeros: true)
        if next == UInt8(ascii: ".") {
            next = bytes.next()
            fraction = digits()
        }
        guard fraction.count > 0 else { return nil }
        hasZeroFraction = fraction.areZeros
        hasExponent = next == UInt8(ascii: "e") || next == UInt8(ascii: "E")
        if hasExponent {
            next = bytes.next()
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { next = bytes.next() }
            guard digits().count > 0 else { return nil }
        }
        guard next == nil else { return nil }
    }
}

/// The form of a number in JSON syntax (RFC 8259 section 6): `-12`, `0.50`, `1e9`.
///
/// A plus sign, a blank, a leading zero or a bare point is an error.
struct NumberForm {
    /// True if all digits after the point are zeros, or if there is no point.
    let hasZeroFraction: Bool
    let hasExponent: Bool

    /// Reads a text, or returns nil if it is not completely a JSON number.
    init?(_ text: some Sequence<UInt8>) {
        var bytes = text.makeIterator()
        var next = bytes.next()
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

/// Numbers as JSON writes them (RFC 8259 section 6).
package enum JSONNumber {
    /// Returns the number that a token stands for, exactly; nil where the token is no number of JSON.
    package static func scalar(_ token: some Collection<UInt8>) -> Scalar? {
        guard isWellFormed(token) else { return nil }
        let text = String(decoding: token, as: UTF8.self)
        return ExactDecimal(text).map { .number($0) } ?? .vast(VastNumber(text))
    }

    private static func isWellFormed(_ token: some Collection<UInt8>) -> Bool {
        var rest = token[...]
        let zero = UInt8(ascii: "0")
        func digits() -> Int {
            let run = rest.prefix { $0 >= zero && $0 <= UInt8(ascii: "9") }
            rest = rest.dropFirst(run.count)
            return run.count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let beginsWithZero = rest.first == zero
        let whole = digits()
        guard whole > 0, !beginsWithZero || whole == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}

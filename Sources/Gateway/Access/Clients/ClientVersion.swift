/// The version of a program, such as 3.12 or 2.0-beta.
struct ClientVersion: Sendable, Equatable, CustomStringConvertible {
    let description: String
    /// Without zeros at the end, so that 2 equals 2.0.
    private let numbers: [UInt64]
    private let suffix: String?

    /// Reads numbers with dots, an optional `-suffix` and an ignored `+build`; nil for other texts.
    init?(_ text: String) {
        let whole = text.split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)[0]
        let parts = whole.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        var numbers: [UInt64] = []
        for part in parts[0].split(separator: ".", omittingEmptySubsequences: false) {
            guard part.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }), let number = UInt64(part) else { return nil }
            numbers.append(number)
        }
        while numbers.last == 0 { numbers.removeLast() }
        description = text
        self.numbers = numbers
        suffix = parts.count > 1 ? String(parts[1]) : nil
    }

    func isOlder(than other: ClientVersion) -> Bool {
        if numbers != other.numbers { return numbers.lexicographicallyPrecedes(other.numbers) }
        switch (suffix, other.suffix) {
        case (let mine?, let theirs?): return mine.utf8.lexicographicallyPrecedes(theirs.utf8)
        case (.some, nil): return true
        case (nil, _): return false
        }
    }
}

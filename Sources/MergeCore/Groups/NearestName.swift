/// Suggests the intended name for a mistyped name.
package enum NearestName {
    /// Returns the nearest name within a third of the length, else a name that ends with the text; nil if no name is near.
    ///
    /// Case does not count.
    package static func suggestion(for name: String, among names: some Sequence<String>) -> String? {
        let wanted = scalars(name)
        var best: (name: String, distance: Int)?
        var ending: String?
        for candidate in names {
            let known = scalars(candidate)
            // A truncated word is the most likely mistake.
            if wanted.count >= 3, known.starts(with: wanted) { return candidate }
            if ending == nil, wanted.count >= 4, known.reversed().starts(with: wanted.reversed()) { ending = candidate }
            let distance = editDistance(wanted, b: known)
            if distance < best?.distance ?? Int.max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, max(wanted.count, best.name.unicodeScalars.count) / 3) else {
            return ending
        }
        return best.name
    }

    /// Returns the beginning of a name in lower case.
    ///
    /// No more is compared, because a name may be as long as a body.
    private static func scalars(_ name: String) -> [Unicode.Scalar] {
        Array(String(String.UnicodeScalarView(name.unicodeScalars.prefix(64))).lowercased().unicodeScalars.prefix(64))
    }

    /// Returns `; did you mean “x”?` or an empty text, as a suffix of a sentence.
    package static func hint(for name: String, among names: some Sequence<String>) -> String {
        suggestion(for: name, among: names).map { "; did you mean “\($0)”?" } ?? ""
    }

    /// Returns the hint, or a full stop if no name is near.
    package static func ending(for name: String, among names: some Sequence<String>) -> String {
        suggestion(for: name, among: names).map { "; did you mean “\($0)”?" } ?? "."
    }

    /// Returns the optimal string alignment distance (Damerau 1964), in which a swap of neighbours is one edit.
    private static func editDistance(_ a: [Unicode.Scalar], b: [Unicode.Scalar]) -> Int {
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var before = [Int](repeating: 0, count: b.count + 1)
        var previous = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                let change = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                row[j] = min(change, previous[j] + 1, row[j - 1] + 1)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], before[j - 2] + 1)
                }
            }
            before = previous
            previous = row
        }
        return previous[b.count]
    }
}

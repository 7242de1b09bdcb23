import MergeCore

/// Guesses the type of a column of dates or times from samples.
enum SampledTime {
    /// Returns nil if there are no samples, or if no such type fits all of them.
    static func type(_ samples: [Scalar]) -> ColumnType? {
        let digits = fractionDigits(samples)
        let candidates: [ColumnType] = [
            .date, .dateTime(fraction: digits), .timestamp(fraction: digits, nil), .time(fraction: digits),
        ]
        return samples.isEmpty
            ? nil
            : candidates.first { type in
                samples.allSatisfy { (try? type.accept($0)) != nil }
            }
    }

    /// Returns the most digits of a second in any sample.
    static func fractionDigits(_ samples: [Scalar]) -> Int {
        let counts = samples.map { sample in
            guard case .text(let text) = sample, let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) else {
                return 0
            }
            return text.utf8[point...].dropFirst().prefix { $0 >= 48 && $0 <= 57 }.count
        }
        return min(counts.max() ?? 0, 6)
    }
}

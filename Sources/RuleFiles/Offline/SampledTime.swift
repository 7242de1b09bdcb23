import MergeCore

/// The type of a column of dates or times, by samples of it.
enum SampledTime {
    /// nil where the samples are not all of one such type, or there are none.
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

    /// The most digits of a second that a sample spells.
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

/// The number of records of a page that are read at once: where they may be long few at first, then as many as their length
/// allows, so that long records need no more memory than short ones.
package struct PieceSize: Sendable {
    /// Records of the next piece.
    package private(set) var records: Int

    private static let most = 128
    private static let bytes = 2 << 20

    /// Begins a page.
    ///
    /// - Parameters:
    ///   - mayBeLong: true where the records may hold long values.
    ///   - mean: the bytes of those that were read before, on average; nil where nobody knows.
    package init(mayBeLong: Bool, mean: Int? = nil) {
        records = Self.most
        guard mayBeLong else { return }
        // How long the next ones are nobody knows all the same, so fewer than would fit at first.
        records = mean.map { min(max(1, Self.bytes / 4 / max($0, 1)), Self.most) } ?? 1
    }

    /// Learns from a piece how long records are; the next one has at most twice as many.
    package mutating func note(records count: Int, bytes: Int) {
        guard count > 0 else { return }
        let fitting = Self.bytes / max(bytes / count, 1)
        records = max(1, min(fitting, Self.most, records * 2))
    }
}

/// The number of records of a page that are read at once: where they may be long few at first, then as many as their length
/// allows, so that long records need no more memory than short ones.
package struct PieceSize: Sendable {
    /// Records of the next piece.
    package private(set) var records: Int

    private static let first = 8
    private static let most = 128
    private static let bytes = 2 << 20

    /// Begins a page.
    ///
    /// - Parameter mayBeLong: true where the records may hold long values.
    package init(mayBeLong: Bool) {
        records = mayBeLong ? Self.first : Self.most
    }

    /// Learns from a piece how long records are; the next one has at most twice as many.
    package mutating func note(records count: Int, bytes: Int) {
        guard count > 0 else { return }
        let fitting = Self.bytes / max(bytes / count, 1)
        records = max(1, min(fitting, Self.most, records * 2))
    }
}

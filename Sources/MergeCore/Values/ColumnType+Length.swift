extension ColumnType {
    /// The most bytes of a value that is short: those of a TEXT.
    private static let short = 65_535

    /// True where a value may have more bytes than a TEXT, or nothing tells how many.
    package var mayBeLong: Bool {
        switch self {
        case .text(let type), .delimitedSet(_, let type):
            (type.maximumBytes ?? .max) > Self.short && (type.maximumCharacters ?? .max) > Self.short
        case .bytes(let maximum): (maximum ?? .max) > Self.short
        case .json, .wellKnownText: true
        default: false
        }
    }
}

/// The place that a scan has come to.
///
/// A shift that ends amid a pass leaves it to the next, which begins with the rest: or rows at the end of a large table would
/// never be looked at where shifts are shorter than a pass.
struct ScanPlace: Sendable {
    /// The name of the section.
    let unit: String
    /// The last key, packed, of the last range that was come by; nil before the first.
    let high: [UInt8]?
}

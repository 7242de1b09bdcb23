/// The current place of a scan.
///
/// A run that ends during a pass leaves the rest to the next run. Otherwise short runs would never reach the end of a
/// large table.
struct ScanPlace: Sendable {
    /// The name of the section.
    let unit: String
    /// The last packed key of the last compared range; nil before the first.
    let high: [UInt8]?
}

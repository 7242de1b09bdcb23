/// The current place of a scan.
///
/// The next run continues an interrupted pass. Otherwise short runs would never reach the end of a large table.
struct ScanPlace: Sendable {
    let unit: String
    /// The packed end of the last compared range; nil before the first.
    let high: [UInt8]?
}

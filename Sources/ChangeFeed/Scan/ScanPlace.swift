/// The current place of a scan.
///
/// The next run continues an interrupted pass. Otherwise short runs would never reach the end of a large table.
struct ScanPlace: Sendable, Equatable {
    /// The name of the section.
    let section: String
    /// The packed end of the last compared range; nil before the first.
    let end: [UInt8]?
}

/// Bounds on what one request may ask of the database.
package struct MergeLimits: Sendable {
    /// Rows of all sections of one record.
    package var rowsPerRecord = 10_000
    /// Records on a page.
    package var pageSize = 500
    /// Records on a page where the request names no number.
    package var defaultPageSize = 100

    package init() {}
}

/// Bounds on what one request may hold.
package struct WireLimits: Sendable {
    /// Bytes of a body, after it was unpacked.
    package var bodyBytes = 8 * 1_024 * 1_024
    /// Bytes of memory that the values of a body may take once it is read, before they are what columns hold.
    ///
    /// Two bytes of a body, such as those of an empty object, can take a hundred times as much; what clients send takes less than a
    /// twelfth of that.
    package var memory: Int { max(1 << 20, bodyBytes.multipliedReportingOverflow(by: 12).partialValue) }
    /// Levels of nesting of a body.
    package var depth = 32
    /// Edits of a push.
    package var edits = 1_000
    /// Rows of all edits of a push.
    package var items = 10_000

    /// Makes the bounds of an operator who gives none.
    package init() {}
}

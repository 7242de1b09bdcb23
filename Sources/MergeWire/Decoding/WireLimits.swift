/// Limits on the content of one request.
package struct WireLimits: Sendable {
    /// The maximum length of a body in bytes, after decompression.
    package var bodyBytes = 8 * 1_024 * 1_024
    /// The maximum memory for the parsed body in bytes.
    ///
    /// Two bytes, such as those of an empty object, can need a hundred times as much. Ordinary bodies need far less.
    package var memory: Int { max(1 << 20, bodyBytes.multipliedReportingOverflow(by: 12).partialValue) }
    /// The maximum depth of a body.
    package var depth = 32
    /// The maximum number of edits in a push.
    package var edits = 1_000
    /// The maximum number of rows in all edits of a push.
    package var items = 10_000

    /// Creates the default limits.
    package init() {}
}

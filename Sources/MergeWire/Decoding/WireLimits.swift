/// Bounds on what one request may hold.
package struct WireLimits: Sendable {
    /// Bytes of a body, after it was unpacked.
    package var bodyBytes = 8 * 1_024 * 1_024
    /// Levels of nesting of a body.
    package var depth = 32
    /// Edits of a push.
    package var edits = 1_000
    /// Rows of all edits of a push.
    package var items = 10_000

    /// Makes the bounds of an operator who gives none.
    package init() {}
}

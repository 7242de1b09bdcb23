/// Bounds on the parts of one merge, so that no answer is much longer than what was merged.
package enum PartLimits {
    /// The most parts of one value.
    package static let count = 1_000
    /// The most bytes of the pointers of all parts of one value: each repeats the names above it.
    package static let pathBytes = 65_536
}

/// Limits on the parts of one merge, so that an answer is not much longer than the merged values.
package enum PartLimits {
    /// The maximum number of parts of one value.
    package static let count = 1_000
    /// The maximum length of all pointers of one value, because each repeats the names above it.
    package static let pathBytes = 65_536
}

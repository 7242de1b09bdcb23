/// The type of a result column as the database reports it, in 64 bits that only its engine can read.
///
/// The engine compares the signatures of the schema with those of every result. So it detects an altered column before
/// it uses a value.
package struct ColumnSignature: Sendable, Hashable {
    /// The bits that the engine packed.
    package let bits: UInt64

    /// Wraps the bits of an engine.
    package init(bits: UInt64) {
        self.bits = bits
    }
}

/// What a database reports of the type of a result column, in 64 bits that only its engine can read.
///
/// The engine reads the signature of each column together with the schema. It compares it with the metadata of every
/// result, so it notices that a column was altered before it uses a value of it.
package struct ColumnSignature: Sendable, Hashable {
    /// The bits as the engine packed them.
    package let bits: UInt64

    /// Keeps the bits that an engine packed.
    package init(bits: UInt64) {
        self.bits = bits
    }
}

/// A record as a file holds it, its members sorted by the rules and its values not yet converted.
struct SampleRecord {
    let id: Scalar?
    /// By position in the resource's `sections`; a section that the file leaves out is not there.
    let sections: [Int: SampleRows]
}

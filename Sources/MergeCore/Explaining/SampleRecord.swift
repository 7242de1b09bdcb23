/// A record of a file, sorted by sections and fields, with unconverted values.
struct SampleRecord {
    let id: Scalar?
    /// The rows by position in the resource's `sections`, without the sections that the file omits.
    let sections: [Int: SampleRows]
}

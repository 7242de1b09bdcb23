/// Merges three sample records of one resource as a gateway would, and gives the reason for each outcome.
///
/// The records have the form of `GET /v1/records` (Protocol.md, section 3). A missing record is `null`. Without a base
/// the client creates the record, without an edited record it deletes it. Sections and groups that the base or the
/// edited record omits count as not sent. SQL conditions (`where`, `checks`, `frozen-when`) need the database, so they
/// are not evaluated. The caller can specify which sections are frozen.
package struct Explainer {
    private let resource: Resource

    /// Creates an explainer for one resource.
    package init(_ resource: Resource) {
        self.resource = resource
    }

    /// Explains the merge of three records, with the positions of sections whose current rows are frozen.
    ///
    /// - Throws: `RecordFault` if a record does not fit the rules.
    package func explain(_ records: Sided<Scalar>, frozen: Set<Int> = []) throws(RecordFault) -> Explanation {
        let samples = try records.map { (side, scalar) throws(RecordFault) in
            try SampleReader(resource: resource, side: side).read(scalar)
        }
        if samples.base == nil, samples.edited == nil {
            throw RecordFault(.edited, at: WirePath(""), reason: "is null like the base, so there is no edit")
        }
        var run = ExplanationRun(resource: resource, samples: samples, frozen: frozen)
        try run.run()
        return run.explanation
    }
}

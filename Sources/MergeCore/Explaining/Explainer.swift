/// Merges three sample records of one resource as a gateway would, and says why each group becomes what it does.
///
/// The records have the shape of `GET /v1/records` (Protocol.md, section 3), and `null` stands for a record that is not
/// there: no base means that the client creates it, nothing edited that the client deletes it, and nothing current
/// that it is gone. What the base or the edited record leaves out, be it a section or a group, the client did not
/// send. Conditions that are SQL (`where`, `checks`, `frozen-when`) need the database and are not evaluated; the caller can
/// say which sections are frozen.
package struct Explainer {
    private let resource: Resource

    /// Explains merges of one resource.
    package init(_ resource: Resource) {
        self.resource = resource
    }

    /// - Parameter frozen: positions of the sections for whose current rows `frozen-when` holds.
    /// - Throws: `RecordFault` where a record does not fit the rules.
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

package import MergeCore
import MergeWire
package import RuleFiles

/// Tries rules on three records out of files, with no database.
package enum RuleTrial {
    /// Merges the records of one resource.
    ///
    /// - Throws: `TrialFault` where the rules cannot be served or a file does not fit them.
    package static func run(
        _ folder: RuleFolder, resource name: String, files: Sided<[UInt8]>
    ) throws(TrialFault) -> Explanation {
        if folder.findings.hasErrors { throw .rules(errors(folder.findings)) }
        let names = folder.files.map(\.name)
        guard names.contains(name) else {
            throw .resource("the rules have no resource “\(name)”\(NearestName.hint(for: name, among: names))")
        }
        var samples = Sided<Scalar>(base: .null, current: .null, edited: .null)
        samples.base = try read(.base, files.base)
        samples.current = try read(.current, files.current)
        samples.edited = try read(.edited, files.edited)
        let schema = OfflineSchema.make(
            for: folder, resource: name, samples: [samples.base, samples.current, samples.edited])
        let (catalog, findings) = RuleBinder.bind(folder, to: schema)
        guard let resource = catalog?[name] else { throw .rules(errors(findings)) }
        do {
            return try Explainer(resource).explain(samples)
        } catch {
            throw .record(error.side, error.description)
        }
    }

    private static func errors(_ findings: Findings) -> [Finding] {
        findings.sorted.filter { $0.severity == .error }
    }

    private static func read(_ side: RecordSide, _ bytes: [UInt8]) throws(TrialFault) -> Scalar {
        do {
            return try SampleFile.read(bytes)
        } catch {
            let detail = error.detail.hasSuffix(".") ? String(error.detail.dropLast()) : error.detail
            throw .record(side, "cannot be read as JSON: " + detail)
        }
    }
}

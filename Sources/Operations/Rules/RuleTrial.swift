package import MergeCore
import MergeWire
package import RuleFiles

/// Tests rules with three records from files, without a database.
package enum RuleTrial {
    /// Merges the records of one resource.
    ///
    /// - Parameter frozen: names of the sections whose current rows are frozen.
    /// - Throws: `TrialFault` if the rules have errors, or a file does not fit them.
    package static func run(
        _ folder: RuleFolder, resource name: String, files: Sided<[UInt8]>, frozen: [String] = []
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
        var positions: Set<Int> = []
        for name in frozen { positions.insert(try position(name, in: resource)) }
        do {
            return try Explainer(resource).explain(samples, frozen: positions)
        } catch {
            throw .record(error.side, error.description)
        }
    }

    /// - Throws: `TrialFault` if the section does not exist or has no `frozen-when`.
    private static func position(_ name: String, in resource: Resource) throws(TrialFault) -> Int {
        guard let position = resource.section(named: name) else {
            let hint = NearestName.hint(for: name, among: resource.sections.map(\.name))
            throw .frozen("the resource “\(resource.name)” has no section “\(name)”\(hint)")
        }
        guard resource.sections[position].frozenWhen != nil else {
            throw .frozen("the section “\(name)” has no “frozen-when”")
        }
        return position
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

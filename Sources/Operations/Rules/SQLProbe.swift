import MergeCore
import RecordStore
import RuleFiles

/// Has the database read the operator's SQL before a push depends on it.
struct SQLProbe {
    let engine: any RecordEngine
    let patience: Duration

    /// The findings so far, with an error for every piece of SQL that the database does not understand.
    ///
    /// - Throws: `StoreError` where the database cannot be asked.
    func findings(
        of rules: RuleFolder, bound catalog: Catalog, adding start: Findings
    ) async throws(StoreError) -> Findings {
        var findings = start
        for sql in rules.operatorSQL {
            let found = catalog[sql.resource].flatMap { resource in
                resource.section(named: sql.section).map { resource.sections[$0] }
            }
            guard let section = found else { continue }
            let statement = SectionSQL.of(section, engine.dialect).probe(sql.sql.value)
            do {
                try await engine.read(deadline: .now.advanced(by: patience)) { session throws(StoreError) in
                    _ = try session.query(statement)
                }
            } catch {
                if [.unavailable, .unwritable, .busy].contains(error.kind) { throw error }
                findings.error(
                    sql.sql.place,
                    "the database does not understand the SQL of \(sql.what): \(error.message)")
            }
        }
        // Statements that contain the operator's SQL would be refused for the same reason.
        if findings.hasErrors { return findings }
        try await VerbProbe(engine: engine, patience: patience).add(to: &findings, of: rules, bound: catalog)
        return findings
    }
}

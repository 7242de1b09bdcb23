import MergeCore
import RecordStore
import RuleFiles

/// Makes the database check the operator's SQL before a push depends on it.
struct SQLProbe {
    let engine: any RecordEngine
    let schema: DatabaseSchema
    let patience: Duration

    /// Adds an error for each SQL fragment that the database does not understand.
    ///
    /// - Throws: `StoreError` if the database cannot be queried.
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
                let table = schema.tables[section.table]
                let missing = table.flatMap { MissingColumn(in: error.message, of: $0)?.sentence }
                findings.error(
                    sql.sql.place,
                    "the database does not understand the SQL of \(sql.what): " + (missing ?? error.message))
            }
        }
        // Other statements contain the operator's SQL and would fail too.
        if findings.hasErrors { return findings }
        try await VisibilityProbe(engine: engine, schema: schema, patience: patience)
            .add(to: &findings, of: rules, bound: catalog)
        try await VerbProbe(engine: engine, patience: patience).add(to: &findings, of: rules, bound: catalog)
        return findings
    }
}

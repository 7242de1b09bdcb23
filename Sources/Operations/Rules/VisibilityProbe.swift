import MergeCore
import RecordStore
import RuleFiles

/// Finds values that a transition or a stamp writes and that `where` would hide at once, so that no push could write them.
struct VisibilityProbe {
    let engine: any RecordEngine
    let schema: DatabaseSchema
    let patience: Duration

    /// Adds a warning for each such value.
    ///
    /// - Throws: `StoreError` if the database cannot be reached.
    func add(to findings: inout Findings, of rules: RuleFolder, bound catalog: Catalog) async throws(StoreError) {
        for constant in rules.writtenConstants {
            guard let resource = catalog[constant.resource], let index = resource.section(named: constant.section),
                let statement = statement(for: constant, in: resource.sections[index])
            else { continue }
            do {
                let rows = try await engine.read(deadline: .now.advanced(by: patience)) { session throws(StoreError) in
                    try session.query(statement)
                }
                if rows.isEmpty { continue }
                findings.warning(
                    constant.place,
                    "“where” of section “\(constant.section)” hides rows with “\(constant.text)” in column "
                        + "“\(constant.column)”, so every push that writes it is refused (outside-where)")
            } catch {
                // A condition that needs more than a row of constants is not evaluated.
                if [.unavailable, .unwritable, .busy].contains(error.kind) { throw error }
            }
        }
    }

    private func statement(for constant: WrittenConstant, in section: Section) -> Statement? {
        guard let column = section.columns.firstIndex(where: { $0.name == constant.column }),
            let value = constant.value(in: section.columns[column].type)
        else { return nil }
        let names = schema.tables[section.table]?.columns.map(\.name) ?? []
        return SectionSQL.of(section, engine.dialect).hiding(value, in: column, among: names)
    }
}

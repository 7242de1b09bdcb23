extension JournalTables {
    /// Returns the rights that a gateway's database user needs on the journal, as SQL for MariaDB.
    ///
    /// - Parameter account: the user as SQL spells it: `'fieldmerge'@'127.0.0.1'`.
    package func grant(to account: String) -> String {
        // In the name of a schema, GRANT reads _ as any character.
        let name = schema.replacing("_", with: "\\_").replacing("%", with: "\\%")
        return "GRANT SELECT, INSERT, UPDATE, DELETE ON \(dialect.quoted(name)).* TO \(account);"
    }
}

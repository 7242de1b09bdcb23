extension JournalTables {
    /// Returns the GRANT for a gateway's database user in MariaDB.
    ///
    /// - Parameter account: the user as SQL spells it: `'fieldmerge'@'127.0.0.1'`.
    package func grant(to account: String) -> String {
        // In the name of a schema, GRANT reads _ as any character.
        let name = schema.replacing("_", with: "\\_").replacing("%", with: "\\%")
        return "GRANT SELECT, INSERT, UPDATE, DELETE ON \(dialect.quoted(name)).* TO \(account);"
    }
}

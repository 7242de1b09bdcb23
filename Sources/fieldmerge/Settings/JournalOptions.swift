import ArgumentParser

struct JournalOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            same-server:SCHEMA on the MariaDB server, sqlite:FILE, or off. (default: same-server:fieldmerge; for SQLite \
            the file DATABASE.fieldmerge)
            """, valueName: "where"))
    var journal: String?

    private static let defaultSchema = "fieldmerge"

    enum Choice {
        case schema(String)
        case file(String)
        case off
    }

    func choice(_ settings: Settings, database: String) throws -> Choice {
        let text = settings.text(journal, .journal)
        let isEmbedded = database.hasPrefix("sqlite:")
        guard let text else {
            if isEmbedded { return .file(Self.path(database) + ".fieldmerge") }
            return .schema(Self.defaultSchema)
        }
        if text == "off" { return .off }
        if text.hasPrefix("same-server:") {
            let name = String(text.dropFirst("same-server:".count))
            guard !isEmbedded else {
                throw SettingsError("--journal same-server:… is for MariaDB; a SQLite database takes sqlite:FILE")
            }
            guard !name.isEmpty, name.count <= 64 else {
                throw SettingsError("--journal same-server:SCHEMA needs the name of a schema")
            }
            return .schema(name)
        }
        if text.hasPrefix("sqlite:") {
            let path = Self.path(text)
            guard !path.isEmpty else { throw SettingsError("--journal sqlite:FILE needs the name of a file") }
            return .file(path)
        }
        throw SettingsError("--journal is same-server:SCHEMA, sqlite:FILE or off, not “\(text)”")
    }

    /// Returns the file of the journal; nil if it has none.
    ///
    /// - Throws: `SettingsError` if the journal does not fit the database.
    func file(_ settings: Settings, _ database: DatabaseOptions) throws -> String? {
        let choice = try choice(settings, database: try settings.required(database.database, .database))
        if case .file(let path) = choice { return path }
        return nil
    }

    static func path(_ url: String) -> String {
        let path = String(url.dropFirst("sqlite:".count))
        return path.hasPrefix("//") ? String(path.dropFirst(2)) : path
    }
}

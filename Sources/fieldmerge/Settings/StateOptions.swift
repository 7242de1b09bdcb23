import ArgumentParser
import FoundationEssentials
import Operations

struct StateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Folder of the gateway's notes on the database's history, by which it detects a restore. (default: the folder \
            of a SQLite database, otherwise $STATE_DIRECTORY, $XDG_STATE_HOME/fieldmerge or ~/.local/state/fieldmerge)
            """, valueName: "dir"))
    var state: String?

    /// Returns the file for a database and its journal.
    ///
    /// - Parameter database: its URL.
    func file(
        _ settings: Settings, database: String, journal: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> HistoryFile {
        let folder = settings.text(state, .state)
        if folder == nil, database.hasPrefix("sqlite:") {
            let path = JournalOptions.path(database)
            return HistoryFile(path: path + ".fieldmerge-state", database: path)
        }
        return HistoryFile(
            folder: folder ?? Self.folder(environment), database: Self.place(database), journal: journal ?? "")
    }

    private static func folder(_ environment: [String: String]) -> String {
        // systemd sets this variable, which may be a list.
        if let folder = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(folder) }
        if let folder = environment["XDG_STATE_HOME"], !folder.isEmpty { return folder + "/fieldmerge" }
        if let home = environment["HOME"], !home.isEmpty { return home + "/.local/state/fieldmerge" }
        return "/var/lib/fieldmerge"
    }

    /// Returns the URL without user and password.
    private static func place(_ url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        let rest = url[start...]
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let user = rest[..<end].lastIndex(of: "@") else { return url }
        return String(url[..<start] + rest[rest.index(after: user)...])
    }
}

import ArgumentParser
import FoundationEssentials
import MariaDBStore
import RecordStore
import SQLiteStore

/// The options that name the database; only this file chooses an engine.
struct DatabaseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "mariadb://USER@HOST:3306/NAME, also with ?socket=PATH, ?tls=required and &ca=FILE; or sqlite:PATH.",
            valueName: "url"))
    var database: String?

    @Option(
        help: ArgumentHelp(
            "File with the database user's password (or FIELDMERGE_DATABASE_PASSWORD).", valueName: "file"))
    var databasePasswordFile: String?

    /// - Throws: `SettingsError` or `StoreError` if the URL or its file cannot be used.
    ///
    /// - Parameter journal: a SQLite file to attach to an embedded database.
    func engine(_ settings: Settings, bounds: DatabaseBounds, journal: String? = nil) throws -> any RecordEngine {
        let url = try settings.required(database, .database)
        if url.hasPrefix("sqlite:") {
            let path = String(url.dropFirst("sqlite:".count))
            guard !path.isEmpty else { throw SettingsError("the database URL names no file: sqlite:PATH") }
            return try SQLiteEngine(
                path: path.hasPrefix("//") ? String(path.dropFirst(2)) : path, journal: journal,
                busySeconds: Double(bounds.lockSeconds), startSeconds: Double(bounds.requestSeconds))
        }
        var limits = MariaDBConfiguration.Limits()
        limits.connections = bounds.connections
        limits.lockWaitSeconds = UInt32(bounds.lockSeconds)
        limits.statementSeconds = UInt32(min(Int(limits.statementSeconds), bounds.requestSeconds))
        do {
            return try MariaDBEngine(
                MariaDBConfiguration(url: url, password: try password(settings), limits: limits))
        } catch let error as MariaDBURLError {
            throw SettingsError(error.description)
        }
    }

    private func password(_ settings: Settings) throws -> String? {
        guard let path = settings.text(databasePasswordFile, .databasePasswordFile) else {
            return settings.text(nil, .databasePassword)
        }
        guard let data = try? Data(contentsOf: URL(filePath: path)),
            let text = String(validating: data, as: UTF8.self)
        else { throw SettingsError("\(path): the password file cannot be read") }
        return text.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }
}

/// Limits on one gateway's use of the database.
struct DatabaseBounds {
    var connections = 1
    /// Seconds that a request may take.
    var requestSeconds = 30

    /// Seconds to wait for locked rows: less than a request may take, so that there is time for an answer.
    var lockSeconds: Int { min(5, max(1, requestSeconds - 1)) }
}

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
    /// - Parameters:
    ///   - journal: a SQLite file to attach to an embedded database.
    ///   - password: the password of a server; nil to read it.
    func engine(
        _ settings: Settings, bounds: DatabaseBounds, journal: String? = nil, password: DatabasePassword? = nil
    ) throws -> any RecordEngine {
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
            let password = try password ?? self.password(settings).password
            return try MariaDBEngine(try MariaDBConfiguration(url: url, password: password, limits: limits))
        } catch let error as MariaDBURLError {
            throw SettingsError(error.description)
        }
    }

    /// Returns the password of a server, and the file that it was read from; nil for SQLite.
    func serverPassword(_ settings: Settings) throws -> (password: DatabasePassword, file: String?)? {
        try settings.required(database, .database).hasPrefix("sqlite:") ? nil : try password(settings)
    }

    /// - Returns: the password, and the file that it was read from; nil without one.
    private func password(_ settings: Settings) throws -> (password: DatabasePassword, file: String?) {
        guard let path = settings.text(databasePasswordFile, .databasePasswordFile) else {
            let password = settings.text(nil, .databasePassword)
            let source =
                password == nil ? "no password was sent" : "the password is \(Setting.databasePassword.variable)"
            return (DatabasePassword(password, source: source), nil)
        }
        if settings.isOfFile(databasePasswordFile, .databasePasswordFile), namesOtherUser(settings) {
            let source = "no password was sent, because the settings file has that of another user"
            return (DatabasePassword(nil, source: source), nil)
        }
        return (DatabasePassword(try Self.password(in: path), source: "the password is that of \(path)"), path)
    }

    /// Reads the first line of a file.
    ///
    /// - Throws: `SettingsError` if the file cannot be read.
    static func password(in path: String) throws -> String {
        guard let data = try? Data(contentsOf: URL(filePath: path)),
            let text = String(validating: data, as: UTF8.self)
        else { throw SettingsError("\(path): the password file cannot be read") }
        return text.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }

    /// Returns true if the command line names another user than the settings file.
    private func namesOtherUser(_ settings: Settings) -> Bool {
        guard let database else { return false }
        let user = settings.ofFile(.database).flatMap { URLComponents(string: $0)?.user }
        return URLComponents(string: database)?.user != user
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

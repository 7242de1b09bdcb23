import ArgumentParser
import FoundationEssentials
import MergeCore
import RecordStore
import RuleFiles
import SystemPackage

struct Inspect: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Writes first rule files from the schema of a database.",
        discussion: """
            Without --out the command prints the files. It reports guesses and omissions, with reasons, on standard error. \
            It does not change the database and does not overwrite files.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @Option(
        help: ArgumentHelp("Table to make rules for; may be repeated. (default: all)", valueName: "name"))
    var table: [String] = []

    @Option(help: ArgumentHelp("Folder for the rule files; created if it is missing.", valueName: "dir"))
    var out: String?

    @Flag(help: "Also include tables without transactions.")
    var nonTransactional = false

    @Flag(help: "Also include columns whose names suggest secrets: passwords, tokens, hashes, salts.")
    var secrets = false

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let engine = try databaseOptions.engine(try Settings(file: config), bounds: DatabaseBounds())
        let schema: DatabaseSchema
        do {
            schema = try await read(engine)
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
        let inspection = Inspection(schema, allowsNonTransactional: nonTransactional, takesSecrets: secrets)
        if let out {
            try Self.write(inspection.files, to: out)
        } else {
            for file in inspection.files { print("# file: \(file.name)\n\(file.text)") }
        }
        let summary = inspection.summary.lines.map { $0 + "\n" }.joined()
        try FileDescriptor.standardError.writeAll(Array(summary.utf8))
        if inspection.files.isEmpty { throw ExitCode(1) }
    }

    /// Reads all names, then the schema of the requested tables.
    private func read(_ engine: any RecordEngine) async throws -> DatabaseSchema {
        // A large schema takes time, and only the operator waits.
        let deadline = ContinuousClock.now.advanced(by: .seconds(600))
        do {
            let names = try await engine.schema(of: [], deadline: deadline).allNames
            for name in table where !names.contains(name) {
                let hint = NearestName.hint(for: name, among: names)
                throw SettingsError("the database has no table “\(name)”\(hint)")
            }
            let wanted = (table.isEmpty ? names : table).map { TableName(name: $0) }
            return try await engine.schema(of: wanted, deadline: deadline)
        } catch let error as StoreError {
            throw SettingsError("the schema cannot be read: \(error)")
        }
    }

    /// - Throws: `SettingsError` if a file exists or cannot be written; if one exists, nothing is written.
    private static func write(_ files: [StarterFile], to folder: String) throws {
        let base = folder.hasSuffix("/") ? folder : folder + "/"
        for file in files where FileManager.default.fileExists(atPath: base + file.name) {
            throw SettingsError("\(base)\(file.name) exists already and is not overwritten; nothing was written")
        }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw SettingsError("\(folder): the folder cannot be made")
        }
        for file in files {
            do {
                try Data(file.text.utf8).write(to: URL(filePath: base + file.name), options: .withoutOverwriting)
            } catch {
                throw SettingsError("\(base)\(file.name) cannot be written")
            }
        }
    }
}

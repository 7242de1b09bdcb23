import ArgumentParser
import Gateway
import RecordStore

struct ChangeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Source of changes that bypass the gateway. binlog reads MariaDB's binary log and scans once an hour. scan \
            reads all rows repeatedly. auto is binlog if the server permits it, otherwise scan. off disables detection. \
            (default: auto)
            """,
            valueName: "source"))
    var changes: String?

    @Option(
        help: ArgumentHelp("Rows that the scan reads per second. (default: 50000)", valueName: "rows"))
    var scanRowsPerSecond: Int?

    @Flag(
        help: ArgumentHelp(
            """
            Journals values that other programs overwrite, from MariaDB's binary log, for journal list and journal undo. \
            The server needs binlog_row_image FULL.
            """))
    var keepForeign = false

    func set(_ configuration: inout GatewayConfiguration, _ settings: Settings) throws {
        let rows = try settings.number(
            scanRowsPerSecond, .scanRowsPerSecond, default: 50_000, in: 100...100_000_000)
        configuration.scanRowsPerSecond = rows
        switch settings.text(changes, .changes) ?? "auto" {
        case "scan": configuration.foreignLog = .never
        case "auto": configuration.foreignLog = .ifPossible
        case "binlog": configuration.foreignLog = .expected
        case "off": configuration.scanRowsPerSecond = nil
        case let other:
            throw SettingsError("--changes is “\(other)”. It must be auto, binlog, scan or off.")
        }
        guard try settings.flag(keepForeign, .keepForeign) else { return }
        guard configuration.scanRowsPerSecond != nil, configuration.foreignLog != .never else {
            throw SettingsError(
                "--keep-foreign reads the binary log, so --changes must be auto or binlog, "
                    + "not \(configuration.changesSource).")
        }
        configuration.keepsForeign = true
        // Without the log nothing is kept, so its absence is trouble.
        configuration.foreignLog = .expected
    }
}

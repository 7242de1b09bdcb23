import ArgumentParser
import Gateway

struct ChangeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "What finds changes that bypass the gateway: scan, which reads all rows again and again, or off. (default: scan)",
            valueName: "source"))
    var changes: String?

    @Option(
        help: ArgumentHelp("Rows that --changes scan reads in a second. (default: 50000)", valueName: "rows"))
    var scanRowsPerSecond: Int?

    func set(_ configuration: inout GatewayConfiguration, _ settings: Settings) throws {
        let rows = try settings.number(
            scanRowsPerSecond, .scanRowsPerSecond, default: 50_000, in: 100...100_000_000)
        switch settings.text(changes, .changes) ?? "scan" {
        case "scan": configuration.scanRowsPerSecond = rows
        case "off": configuration.scanRowsPerSecond = nil
        case "binlog":
            throw SettingsError(
                "--changes binlog is not there yet; --changes scan needs no more than the right to SELECT")
        case let other: throw SettingsError("--changes is scan or off, not “\(other)”")
        }
    }
}

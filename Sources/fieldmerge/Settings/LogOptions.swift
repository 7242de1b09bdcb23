import ArgumentParser
import Logging

struct LogOptions: ParsableArguments {
    @Option(help: ArgumentHelp("trace, debug, info, notice, warning or error. (default: info)", valueName: "level"))
    var logLevel: String?

    @Option(help: ArgumentHelp("text, or json with one object per line. (default: text)", valueName: "format"))
    var logFormat: String?

    /// Reads the settings, and makes the log.
    ///
    /// - Throws: `SettingsError` for an invalid setting, level or format.
    func start(_ config: String?) throws -> (settings: Settings, logger: Logger, form: LineLog.Form) {
        var warnings: [String] = []
        let settings = try Settings(file: config) { warnings.append($0) }
        let form = try form(settings)
        var logger = Logger(label: "fieldmerge") { LineLog(label: $0, form: form) }
        logger.logLevel = try level(settings)
        for warning in warnings { logger.warning("\(warning)") }
        return (settings, logger, form)
    }

    private func level(_ settings: Settings) throws -> Logger.Level {
        let level = settings.text(logLevel, .logLevel) ?? "info"
        guard let known = Logger.Level(rawValue: level) else {
            throw SettingsError("--log-level is trace, debug, info, notice, warning or error, not “\(level)”")
        }
        return known
    }

    private func form(_ settings: Settings) throws -> LineLog.Form {
        let text = settings.text(logFormat, .logFormat) ?? LineLog.Form.text.rawValue
        guard let form = LineLog.Form(rawValue: text) else {
            throw SettingsError("--log-format is text or json, not “\(text)”")
        }
        return form
    }
}

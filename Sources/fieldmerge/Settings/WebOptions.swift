import ArgumentParser
import Gateway

/// The options for web pages.
struct WebOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Web origin whose pages may use the gateway from a browser; may be repeated.", valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "Folder of a web app, whose files are served to everybody under /app/.", valueName: "folder"))
    var serveApp: String?

    /// Applies the options.
    ///
    /// - Throws: `SettingsError` for an invalid origin, or a folder that cannot be served.
    func set(_ out: inout GatewayConfiguration, _ settings: Settings) throws {
        do {
            out.allowedOrigins = try settings.list(allowOrigin, .allowOrigin).map { try WebOrigin($0) }
        } catch let error as WebOriginError {
            throw SettingsError("--allow-origin: \(error)")
        }
        guard let folder = settings.text(serveApp, .serveApp) else { return }
        do {
            out.app = try AppFolder(folder)
        } catch {
            throw SettingsError("--serve-app: \(error)")
        }
    }
}

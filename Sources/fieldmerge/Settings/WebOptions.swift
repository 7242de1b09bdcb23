import ArgumentParser
import Gateway

struct WebOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Web origin whose pages may use the gateway from a browser; may be repeated.", valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "Folder of a web app, whose files are served to everybody under /app/.", valueName: "folder"))
    var serveApp: String?

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

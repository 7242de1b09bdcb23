import ArgumentParser
import Gateway

struct WebOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Web origin whose pages may use the gateway from a browser; may be repeated.", valueName: "origin"))
    var allowOrigin: [String] = []

    @Option(
        help: ArgumentHelp(
            "Folder of a web app. Its files are public under /app/.", valueName: "folder"))
    var serveApp: String?

    @Option(
        help: ArgumentHelp(
            "Console of the operators under /console/: off, read-only, or full, which also undoes and sends again. "
                + "(default: off)", valueName: "mode"))
    var console: String?

    @Option(
        help: ArgumentHelp(
            "Address of a proxy that names its client, in X-Forwarded-For or the PROXY protocol; may be repeated.",
            valueName: "address"))
    var trustedProxy: [String] = []

    func set(_ out: inout GatewayConfiguration, _ settings: Settings) throws {
        do {
            out.allowedOrigins = try settings.list(allowOrigin, .allowOrigin).map { try WebOrigin($0) }
        } catch let error as WebOriginError {
            throw SettingsError("--allow-origin: \(error)")
        }
        let mode = settings.text(console, .console) ?? ConsoleMode.off.rawValue
        guard let chosen = ConsoleMode(rawValue: mode) else {
            throw SettingsError("--console is “\(mode)”. It must be off, read-only or full.")
        }
        out.console = chosen
        switch TrustedProxies.reading(settings.list(trustedProxy, .trustedProxy)) {
        case .success(let proxies): out.proxies = proxies
        case .failure(let error):
            throw SettingsError(
                "--trusted-proxy: “\(error.text)” is not an IPv4 or IPv6 address such as 10.0.0.5 or fd00::5")
        }
        guard let folder = settings.text(serveApp, .serveApp) else { return }
        do {
            out.app = try AppFolder(folder)
        } catch {
            throw SettingsError("--serve-app: \(error)")
        }
    }
}

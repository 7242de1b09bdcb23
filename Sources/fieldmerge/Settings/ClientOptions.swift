import ArgumentParser
import Gateway

struct ClientOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Oldest accepted version of a client program (header X-Client); may be repeated.",
            valueName: "name/version"))
    var minClient: [String] = []

    @Option(help: ArgumentHelp("Message for users of an older version.", valueName: "text"))
    var upgradeMessage: String?

    @Option(help: ArgumentHelp("Address of a newer version.", valueName: "url"))
    var upgradeLink: String?

    @Option(help: ArgumentHelp("Requests that a client may send per second. (default: no limit)", valueName: "n"))
    var rateRequests: Int?

    @Option(help: ArgumentHelp("Edits that a client may send per second. (default: no limit)", valueName: "n"))
    var rateEdits: Int?

    func set(_ out: inout GatewayConfiguration, _ settings: Settings) throws {
        out.requestsPerSecond = try rate(rateRequests, as: .rateRequests, in: settings)
        out.editsPerSecond = try rate(rateEdits, as: .rateEdits, in: settings)
        let minimums = settings.list(minClient, .minClient)
        let message = settings.text(upgradeMessage, .upgradeMessage)
        let link = settings.text(upgradeLink, .upgradeLink)
        guard !minimums.isEmpty else {
            guard message == nil, link == nil else {
                throw SettingsError("--upgrade-message and --upgrade-link have no effect without --min-client")
            }
            return
        }
        do {
            out.minimumClients = try MinimumClients(minimums, message: message, link: link)
        } catch {
            throw SettingsError("--min-client: \(error)")
        }
    }

    private func rate(_ option: Int?, as setting: Setting, in settings: Settings) throws -> Int? {
        let rate = try settings.number(option, setting, default: 0, in: 0...1_000_000)
        return rate == 0 ? nil : rate
    }
}

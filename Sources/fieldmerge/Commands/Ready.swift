import ArgumentParser
import Gateway

struct Ready: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks that the gateway on this machine serves requests, for probes of containers and services.",
        discussion: """
            It reads the settings of “serve”, and prints the answer of /readyz. The exit code is 0 if the gateway serves \
            requests, otherwise 1.
            """)

    @Option(help: ArgumentHelp("Address of the gateway. (default: 127.0.0.1:8080)", valueName: "host:port"))
    var listen: String?

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Seconds to wait for an answer.", valueName: "seconds"))
    var patience: Int64 = 5

    func validate() throws {
        guard (1...600).contains(patience) else { throw ValidationError("--patience is 1 to 600 seconds.") }
    }

    func run() async throws {
        let settings = try Settings(file: config)
        let address = try ListenAddress(settings.text(listen, .listen) ?? "127.0.0.1:8080")
        let probe = ReadinessProbe(
            host: address.host, port: address.port, isEncrypted: settings.text(nil, .tlsCertificate) != nil)
        do {
            let answer = try await probe.ask(within: patience)
            print(String(decoding: answer.body, as: UTF8.self))
            if !answer.isReady { throw ExitCode(1) }
        } catch let silence as GatewayRequest.Silence {
            throw SettingsError(silence.description)
        }
    }
}

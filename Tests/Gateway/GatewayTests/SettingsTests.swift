import Foundation
import Testing
import TestSupport

/// A typing error in the settings is an error, and each given setting is used.
@Suite(.serialized) struct SettingsTests {
    private static func check(
        file: String? = nil, environment: [String: String] = [:]
    ) async throws -> (status: Int32, errors: String) {
        let folder = try TemporaryFolder(files: ["settings.yaml": file ?? ""])
        let options = file == nil ? [] : ["--config", folder.path + "/settings.yaml"]
        let ran = try await Shell.capture(
            [GatewayProcess.program, "check", "--rules", Repository.root + "MergeRules"] + options,
            environment: environment)
        return (ran.status, ran.errors.replacing(folder.path + "/", with: ""))
    }

    /// With `token` instead of `tokens`, every request would be accepted.
    @Test("A misspelled name is an error")
    func misspelledName() async throws {
        let (status, errors) = try await Self.check(file: "token: /etc/tokens\nrulse: x\nlisten: 127.0.0.1:0\n")
        #expect(status == 1)
        #expect(
            errors.contains(
                "settings.yaml:1:1: error: “token” is not a setting; did you mean "
                    + "“tokens”?"), "\(errors)")
        #expect(
            errors.contains(
                "settings.yaml:2:1: error: “rulse” is not a setting; did you mean "
                    + "“rules”?"), "\(errors)")
    }

    @Test(
        "Each command checks the settings",
        arguments: ["serve", "check", "inspect", "explain", "journal list", "journal init", "journal show"])
    func commands(_ command: String) async throws {
        let folder = try TemporaryFolder(files: ["settings.yaml": "token: x\n"])
        let more = [
            "explain": ["--resource", "a", "--base", "b", "--current", "c", "--edited", "d"], "journal show": ["1"],
        ]
        for (options, environment) in [
            (["--config", folder.path + "/settings.yaml"], [:]), ([], ["FIELDMERGE_TOKEN": "x"]),
        ] {
            let ran = try await Shell.capture(
                [GatewayProcess.program] + command.split(separator: " ").map(String.init) + (more[command] ?? [])
                    + options, environment: environment)
            #expect(ran.status == 1 && ran.errors.contains("is not a setting; did you mean"), "\(ran)")
        }
    }

    @Test(
        "A variable that resembles a setting is an error",
        arguments: [
            ("FIELDMERGE_TOKEN", "FIELDMERGE_TOKENS"), ("FIELDMERGE_TOKNES", "FIELDMERGE_TOKENS"),
            ("FIELDMERGE_tokens", "FIELDMERGE_TOKENS"), ("fieldmerge_tokens", "FIELDMERGE_TOKENS"),
            ("FIELDMERGE_TOKENS_FILE", "FIELDMERGE_TOKENS"), ("FIELDMERGE_TOKEN_FILE", "FIELDMERGE_TOKENS"),
            ("FIELDMERGE_DATABASE_URL", "FIELDMERGE_DATABASE"), ("FIELDMERGE_MAXBODY", "FIELDMERGE_MAX_BODY"),
            ("FIELDMERGE_DATABASE_PASSWORDFILE", "FIELDMERGE_DATABASE_PASSWORD_FILE"),
            ("FIELDMERGE_ALLOW_ORIGINS", "FIELDMERGE_ALLOW_ORIGIN"), ("FIELDMERGE_CONFIGS", "FIELDMERGE_CONFIG"),
        ])
    func similarVariable(_ name: String, _ near: String) async throws {
        let (status, errors) = try await Self.check(environment: [name: "s3cret"])
        #expect(status == 1 && errors.contains("\(name) is not a setting; did you mean \(near)?"), "\(errors)")
        #expect(!errors.contains("s3cret"))
    }

    @Test(
        "Any other variable is a warning",
        arguments: ["FIELDMERGE_TEST_FOLDER", "FIELDMERGE_TEST_KILLS", "FIELDMERGE_BENCHMARK", "FIELDMERGE_BUILD"])
    func otherVariable(_ name: String) async throws {
        let (status, errors) = try await Self.check(environment: [name: "s3cret"])
        #expect(status == 0)
        #expect(errors == "warning: \(name) in the environment is not a setting, and is ignored\n")
    }

    @Test("The log warns of other variables")
    func warnings() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules, wrapper: ["env", "FIELDMERGE_NONSENSE=1"])
        #expect(gateway.log.contains("warning fieldmerge: FIELDMERGE_NONSENSE in the environment is not a setting"))
    }

    @Test("All errors are reported together")
    func allErrors() async throws {
        let (status, errors) = try await Self.check(
            file: "token: x\nmax-body: [1]\n", environment: ["FIELDMERGE_TOKEN": "x", "FIELDMERGE_JOURNAL": ""])
        #expect(status == 1)
        for said in [
            "FIELDMERGE_TOKEN is not a setting", "FIELDMERGE_JOURNAL is empty", "“token” is not a setting",
            "“max-body” takes one value",
        ] {
            #expect(errors.contains(said), "\(errors)")
        }
    }

    /// One file serves all commands, and every option that can be set in it is a setting.
    @Test("Each option is a setting")
    func options() async throws {
        let help = try await Shell.run([GatewayProcess.program, "serve", "--help"])
        let options = Set(help.matches(of: /--([a-z][a-z-]+)/).map { String($0.output.1) })
            .subtracting(["help", "version", "config"])
        #expect(options.count > 20)
        let guide = try Repository.text("Sources/fieldmerge/Guides/Operation.md")
        for option in options.sorted() {
            #expect(guide.contains("| `--\(option)"), "\(option) is in no table")
        }
        let file = options.sorted().map { "\($0): x\n" }.joined()
        let (status, errors) = try await Self.check(
            file: file.replacing("database: x\n", with: "") + "database-password: x\n")
        #expect(status == 0 && errors.isEmpty, "\(errors)")
    }

    @Test(
        "Origins are checked at the start",
        arguments: [
            (["--allow-origin", "*"], [:], "“*” would let in every page"),
            (["--allow-origin", "https://a.example,b"], [:], "“https://a.example,b” is more than one"),
            (
                ["--allow-origin", "https://a.example", "--allow-origin", "b.example"], [:],
                "“b.example” does not begin"
            ),
            (
                [], ["FIELDMERGE_ALLOW_ORIGIN": "https://a.example, https://b.example/"],
                "“https://b.example/” has a path"
            ),
            ([], ["FIELDMERGE_ALLOW_ORIGIN": "https://a.example,"], "“” does not begin"),
        ])
    func origins(_ options: [String], _ environment: [String: String], _ fault: String) async throws {
        let ran = try await Shell.capture(
            [GatewayProcess.program, "serve", "--database", "sqlite:/nowhere", "--rules", "/nowhere"] + options,
            environment: environment)
        #expect(ran.status == 1 && ran.errors.contains("--allow-origin: \(fault)"), "\(ran.errors)")
    }

    /// From the command line, the environment and the file alike.
    @Test("There may be several origins")
    func severalOrigins() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let origins = ["https://a.example", "https://b.example"]
        let folder = try TemporaryFolder(files: [
            "settings.yaml": "allow-origin:\n  - https://A.example\n  - https://b.example:443\n"
        ])
        for (options, environment) in [
            (["--allow-origin", "https://A.example", "--allow-origin", "https://b.example:443"], [:]),
            ([], ["FIELDMERGE_ALLOW_ORIGIN": "https://A.example, https://b.example:443"]),
            (["--config", folder.path + "/settings.yaml"], [:]),
        ] {
            let wrapper = ["env"] + environment.map { $0.key + "=" + $0.value }
            let gateway = try await GatewayProcess(
                database, rules: MergeTests.rules, options: options, wrapper: wrapper)
            try await HTTPClient.with(port: gateway.port) { client async throws in
                for origin in origins {
                    let answer = try await client.get("/healthz", ["Origin": origin])
                    #expect(answer.headers["access-control-allow-origin"] == origin)
                }
            }
        }
    }
}

import ArgumentParser
import MergeWire
import Operations

struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes bearer tokens.", subcommands: [New.self])

    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a new token, once, and its line for the tokens file, which contains only a hash.",
            discussion: "With --append FILE the command adds the line to the file.")

        @Option(help: ArgumentHelp("Name of its user, such as tablet-7.", valueName: "name"))
        var name: String

        @Flag(help: "The token permits reads, but no writes.")
        var readOnly = false

        @Flag(
            name: .customLong("operator"),
            help: "The token also permits reading the journal, undoing entries and resending pushes.")
        var operates = false

        @Flag(help: "The token only fetches access tokens from /v1/token.")
        var refresh = false

        @Option(help: ArgumentHelp("Role of the token; may be repeated.", valueName: "role"))
        var role: [String] = []

        @Option(help: ArgumentHelp("Claims about its bearer, a JSON object.", valueName: "json"))
        var claims: String?

        @Option(
            help: ArgumentHelp(
                "Tokens file to which the line is appended; if it is missing, it is created for its owner only.",
                valueName: "file"))
        var append: String?

        func validate() throws {
            let isPlain = name.utf8.allSatisfy { $0 > 32 && $0 < 127 } && !name.hasPrefix("#") && !name.isEmpty
            if !isPlain { throw ValidationError("The name is one word of ASCII characters, such as tablet-7.") }
            let arePlain = role.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { $0 > 32 && $0 != 44 && $0 != 127 } }
            if !arePlain { throw ValidationError("A role is one word without commas, such as driver.") }
            if let claims, !Self.isObject(claims) {
                throw ValidationError("Claims are a JSON object on one line, such as {\"area\":7}.")
            }
        }

        private static func isObject(_ claims: String) -> Bool {
            !claims.contains(where: \.isNewline) && (try? ClaimsDecoder.decode(Array(claims.utf8))) != nil
        }

        func run() async throws {
            let token = AccessToken.make()
            let line = token.line(name: name, rights: rights, roles: role, claims: claims)
            // The token is printed only after its line is stored.
            if let append { try TokenAppending(path: append).append(line, named: name) }
            print("token (shown only now, give it to the client):")
            print(token.secret)
            if let append {
                print("its line was appended to \(append); gateways that use the file accept it within seconds")
            } else {
                print("line for the tokens file:")
                print(line)
            }
        }

        private var rights: Set<AccessRight> {
            var rights: Set<AccessRight> = readOnly ? [.read] : [.read, .write]
            if operates { rights.insert(.operate) }
            if refresh { rights.insert(.refresh) }
            return rights
        }
    }
}

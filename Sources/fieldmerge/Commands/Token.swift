import ArgumentParser
import Operations

/// `fieldmerge token`.
struct Token: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes bearer tokens.", subcommands: [New.self])

    /// `fieldmerge token new`.
    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints a new token, once, and the line for the tokens file, which holds only its hash.")

        @Option(help: ArgumentHelp("Who will use it, such as tablet-7.", valueName: "name"))
        var name: String

        @Flag(help: "The token may read, but not write.")
        var readOnly = false

        func validate() throws {
            let isPlain = name.utf8.allSatisfy { $0 > 32 && $0 < 127 } && !name.hasPrefix("#") && !name.isEmpty
            if !isPlain { throw ValidationError("The name is one word of ASCII characters, such as tablet-7.") }
        }

        func run() async throws {
            let token = AccessToken.make()
            print("token (shown only now, give it to the client):")
            print(token.secret)
            print("line for the tokens file:")
            print(token.line(name: name, rights: readOnly ? [.read] : [.read, .write]))
        }
    }
}

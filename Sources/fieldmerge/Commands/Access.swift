import ArgumentParser

struct Access: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Looks at rules of access.", subcommands: [AccessExplain.self])
}

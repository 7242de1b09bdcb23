import ArgumentParser

struct Access: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Explains access rules.", subcommands: [AccessExplain.self])
}

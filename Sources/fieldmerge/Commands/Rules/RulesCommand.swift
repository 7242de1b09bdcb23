import ArgumentParser

struct RulesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "Tries rule changes.", subcommands: [RulesRehearse.self])
}

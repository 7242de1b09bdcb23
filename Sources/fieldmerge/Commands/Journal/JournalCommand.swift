import ArgumentParser

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Makes the journal, shows what was merged and overwritten, and takes it back.",
        subcommands: [
            JournalInit.self, JournalList.self, JournalShow.self, JournalRefused.self, JournalReplay.self,
            JournalUndo.self, JournalAdopt.self, JournalNewFeed.self, JournalRestored.self,
        ])
}

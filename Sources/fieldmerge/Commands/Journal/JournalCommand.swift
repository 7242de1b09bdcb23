import ArgumentParser

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journal",
        abstract: "Creates the journal, shows merged and overwritten values, and undoes entries.",
        subcommands: [
            JournalInit.self, JournalUpgradeCommand.self, JournalList.self, JournalShow.self, JournalRefused.self,
            JournalReplay.self, JournalDrop.self,
            JournalUndo.self, JournalErase.self, JournalAdopt.self, JournalNewFeed.self, JournalRestored.self,
        ])
}

import ArgumentParser
import Operations
import MergeService

struct JournalNewFeed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-feed",
        abstract: "Begins a new change feed, for example after a restore.",
        discussion: """
            A restored journal would assign revisions a second time, and clients that have read them would miss changes. \
            A new feed begins with greater revisions, and every client loads a snapshot once. Unsent edits of clients are \
            not affected. Gateways may run meanwhile.
            """)

    @OptionGroup var databaseOptions: DatabaseOptions

    @OptionGroup var journalOptions: JournalOptions

    @Option(help: ArgumentHelp("Settings file. (or FIELDMERGE_CONFIG)", valueName: "file"))
    var config: String?

    func run() async throws {
        let store = try Store(
            databaseOptions, journal: journalOptions, settings: try Settings(file: config), bounds: DatabaseBounds(),
            makesFile: false)
        do {
            let feed = try await store.journal(for: .merging).beginNewFeed()
            await store.close()
            print("the feed is “\(feed.id)” now, from revision \(feed.revision) on")
        } catch {
            await store.close()
            throw error
        }
    }
}

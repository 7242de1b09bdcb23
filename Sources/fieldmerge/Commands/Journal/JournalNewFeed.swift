import ArgumentParser
import Operations
import MergeService

struct JournalNewFeed: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-feed",
        abstract: "Begins the feed of changes anew, as after a restore from a backup.",
        discussion: """
            The revisions of a restored journal would be given a second time, and clients that have read the first ones \
            would miss changes. A new feed has greater ones: every client is told to take a snapshot, once. What clients \
            have yet to push is not touched by it. Gateways may run meanwhile.
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

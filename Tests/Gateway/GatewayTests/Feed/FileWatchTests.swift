import Testing

@testable import ChangeFeed

/// The moments at which a SQLite file is scanned.
@Suite struct FileWatchTests {
    @Test("A file is scanned at first, after a foreign commit, and before more notes wait than a scan compares")
    func moments() {
        var watch = FileWatch()
        let start = ContinuousClock.now
        #expect(watch.isDue(version: 1, lastNote: nil, now: start))
        watch.hasScanned(version: 1, upToNote: 0, now: start)
        let later = start + .seconds(120)
        #expect(!watch.isDue(version: 1, lastNote: 0, now: later))
        #expect(watch.isDue(version: 2, lastNote: 0, now: later))
        #expect(!watch.isDue(version: 1, lastNote: 249, now: later))
        #expect(watch.isDue(version: 1, lastNote: 250, now: later))
        #expect(watch.isDue(version: 1, lastNote: 1, now: start + .seconds(600)))
    }
}

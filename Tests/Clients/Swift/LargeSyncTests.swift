#if os(Linux)
    import FieldMergeTesting
    import Foundation
    import Testing

    @testable import FieldMergeClient

    /// Measures the first sync of `FIELDMERGE_LARGE` records, such as 100000, for runs by hand.
    @Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["FIELDMERGE_LARGE"] != nil))
    struct LargeSyncTests {
        @Test("Reads continue during a first sync")
        func reads() async throws {
            let environment = ProcessInfo.processInfo.environment
            let count = try #require(environment["FIELDMERGE_LARGE"].flatMap { Int($0) })
            let folder = try TemporaryFolder()
            let shop = BuiltProgram.root.appendingPathComponent("Samples/shop/sqlite.sql")
            let rows = """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                INSERT INTO aisles (name, descr) SELECT 'Made-up aisle ' || i, printf('%0200d', i) FROM n;
                """
            let gateway = try await RealGateway.start(
                program: try #require(BuiltProgram.url), rules: BuiltProgram.root.appendingPathComponent("MergeRules"),
                sql: try String(contentsOf: shop, encoding: .utf8) + rows)
            let store = try await FieldMergeStore.open(
                at: folder.file("store.db"), server: gateway.url, user: "anna", resources: ["aisles", "shoppers"]
            ) { "none" }
            let before = try Self.residentKilobytes()
            let clock = ContinuousClock()
            let begin = clock.now
            let syncing = Task { try await store.sync() }
            let reading = Task {
                var worst = Duration.zero
                var reads = 0
                var peak = 0
                while !Task.isCancelled {
                    let start = clock.now
                    _ = try await store.record("aisles", 20 + reads % 1_000)
                    worst = max(worst, clock.now - start)
                    peak = max(peak, try Self.residentKilobytes())
                    reads += 1
                    try? await Task.sleep(for: .milliseconds(5))
                }
                return (worst, reads, peak)
            }
            let report = try await syncing.value
            let took = clock.now - begin
            reading.cancel()
            let (worst, reads, peak) = try await reading.value
            #expect(report.isOK && report.changes > count)
            print("\(count) records in \(took); \(reads) reads, the slowest \(worst);")
            print("resident memory: \(before) kB before, at most \(peak) kB meanwhile")
            #expect(peak - before < 100_000, "memory does not grow with the number of records")
            await store.close()
        }

        private static func residentKilobytes() throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
    }
#endif

import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

#if os(Linux)
    /// An app and its extension: two processes that edit one store at once, of which one syncs.
    @Suite(.timeLimit(.minutes(3))) struct TwoProcessTests {
        private static let variable = "FIELDMERGE_SECOND_PROCESS"
        private static let place = ProcessInfo.processInfo.environment[variable]
        private static let edits = 40

        private static func edit(_ store: FieldMergeStore, as name: String, number: Int) async throws {
            try await store.edit("shoppers", 123) { edit in
                edit["customer", "points"] = .integer(Int128((edit["customer", "points"].intValue ?? 0) + 1))
            }
            try await store.edit("shoppers", 124) { edit in
                edit["groceries"].append(["name": .string("\(name)\(number)")])
            }
        }

        @Test(.enabled(if: place == nil)) func nothingIsLostOrDoubled() async throws {
            let folder = try TemporaryFolder()
            let url = folder.file("store.db")
            let gateway = try StoreTests.gateway()
            let store = try await memoryStore(gateway, at: url, clock: SystemClock())
            #expect(try await store.sync().isOK)
            let second = try Self.start("theSecondProcessEdits", with: url)
            for number in 0..<Self.edits {
                try await Self.edit(store, as: "first ", number: number)
                if number % 4 == 0 { try await store.sync() }
            }
            for await status in second { #expect(status == 0) }
            #expect(try await store.sync().isOK)
            #expect(await store.status.unsent == 0)
            #expect(try await store.refusedEdits().isEmpty)
            #expect(gateway.record("shoppers", 123)?["customer"]["points"] == .integer(Int128(5 + 2 * Self.edits)))
            let names = (gateway.record("shoppers", 124)?["groceries"].arrayValue ?? []).compactMap {
                $0["name"].stringValue
            }
            let expected = ["first ", "second "].flatMap { name in (0..<Self.edits).map { "\(name)\($0)" } }
            #expect(names.sorted() == expected.sorted())
            #expect(Set(gateway.runs).count == gateway.runs.count)
            await store.close()
        }

        /// Starts a test in a new process, and returns its exit status.
        private static func start(_ test: String, with url: URL) throws -> AsyncStream<Int32> {
            let second = Process()
            second.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            second.arguments = ["--testing-library", "swift-testing", "--filter", test]
            second.environment = ProcessInfo.processInfo.environment.merging([variable: url.path]) { _, new in new }
            let ended = AsyncStream<Int32>.makeStream()
            second.terminationHandler = { process in
                ended.continuation.yield(process.terminationStatus)
                ended.continuation.finish()
            }
            try second.run()
            return ended.stream
        }

        @Test("A suspended store writes nothing, and continues when it is resumed", .enabled(if: place == nil))
        func suspension() async throws {
            let folder = try TemporaryFolder()
            // All stores of a process are suspended, so this one has a separate process.
            for await status in try Self.start("theSuspendedProcess", with: folder.file("store.db")) {
                #expect(status == 0)
            }
        }

        /// Runs in the process that the other test starts.
        @Test(.enabled(if: place != nil)) func theSuspendedProcess() async throws {
            let gateway = try StoreTests.gateway()
            let store = try await StoreTests.synced(gateway, at: URL(fileURLWithPath: try #require(Self.place)))
            FieldMergeStore.suspend()
            await #expect(throws: FieldMergeError.self) {
                try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            }
            #expect(try await store.record("shoppers", 123)?["customer", "firstName"] == "Joe")
            FieldMergeStore.resume()
            try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            #expect(try await store.sync().isOK)
            #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Bob")
            await store.close()
        }

        /// Runs in the process that the other test starts.
        @Test(.enabled(if: place != nil)) func theSecondProcessEdits() async throws {
            let url = URL(fileURLWithPath: try #require(Self.place))
            let store = try await memoryStore(ScriptedServer(), at: url, clock: SystemClock())
            for number in 0..<Self.edits { try await Self.edit(store, as: "second ", number: number) }
            await store.close()
        }
    }
#endif

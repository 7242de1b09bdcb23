import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Errors of the storage, of functions of the app and of pushes: the next sync continues without a restart.
@Suite(.timeLimit(.minutes(4))) struct FaultTests {
    struct StorageFault: Error {}

    /// Throws at one step of the transactions, once.
    private final class OneFault: Sendable {
        private let left = Mutex<Int?>(nil)

        func arm(at step: Int) { left.withLock { $0 = step } }

        /// Returns whether the step was not reached.
        func disarm() -> Bool {
            left.withLock { left in
                defer { left = nil }
                return left != nil
            }
        }

        func take() throws {
            let isDue = left.withLock { left in
                guard let steps = left else { return false }
                left = steps > 1 ? steps - 1 : nil
                return steps <= 1
            }
            if isDue { throw StorageFault() }
        }
    }

    @Test("After an error at any step the next sync loses and doubles nothing", arguments: [false, true])
    func errors(changesRules: Bool) async throws {
        let fault = OneFault()
        for step in 1...2_000 {
            let gateway = try StoreTests.gateway()
            let store = try await StoreTests.synced(gateway)
            store.context.observeSteps { _ in try fault.take() }
            try await store.edit("shoppers", 123) { edit in
                edit["customer", "points"] = 6
                edit["customer", "street"] = "2 Low St"
            }
            let aisle = try await store.create("aisles") { $0["aisle", "name"] = "Oils" }
            try await store.edit("shoppers", 124) {
                $0["groceries"].append(["name": "Olive oil", "aisle": aisle.id])
            }
            if changesRules { gateway.change(rules: ShapeTests.rules("r2", adding: "country"), ShapeTests.withCountry) }
            fault.arm(at: step)
            var hasFailed = false
            do { try await store.sync() } catch is StorageFault { hasFailed = true }
            let isOver = fault.disarm()
            #expect(await store.status.phase == (hasFailed ? .waiting : .idle), "step \(step)")
            #expect(try await store.sync().isOK, "step \(step)")
            #expect(await store.status.unsent == 0)
            #expect(try await store.refusedEdits().isEmpty)
            #expect(gateway.record("shoppers", 123)?["customer"]["points"] == 6, "step \(step)")
            #expect(gateway.record("shoppers", 123)?["customer"]["street"] == "2 Low St")
            #expect(gateway.records("aisles").count == 2)
            #expect(gateway.record("shoppers", 124)?["groceries"].count == 1)
            #expect(gateway.runs.count == Set(gateway.runs).count)
            await store.close()
            if isOver { return }
        }
        Issue.record("the sync has more steps than this test")
    }

    @Test(
        "Names of groups and fields that other languages reserve are ordinary names",
        arguments: ["constructor", "__proto__"])
    func reservedNames(name: String) async throws {
        var rules = SharedCases.model["rules"]
        var aisles = rules["resources"][1]
        var sections = aisles["sections"].arrayValue ?? []
        sections[0]["groups"].append([
            "group": .string(name), "onConflict": "client-wins",
            "fields": [["field": .string(name), "type": "text", "nullable": true]],
        ])
        aisles["sections"] = .array(sections)
        let all = rules["resources"].arrayValue ?? []
        rules["resources"] = .array([all[0], aisles, all[2]])
        let record: JSONValue = ["id": 5, "aisle": ["name": "Tins", name: "x"]]
        let gateway = try #require(MemoryGateway(rules: rules, records: ["aisles": [record]]))
        let store = try await StoreTests.synced(gateway)
        let ticket = try await store.edit("aisles", 5) { $0["aisle", name] = "y" }
        #expect(try await store.sync().isOK)
        #expect(await ticket.outcome.status == .merged)
        #expect(gateway.record("aisles", 5)?["aisle"][name] == "y")
    }

    @Test("A push that cannot be built is refused with its reason, and the next one is sent")
    func unbuildablePush() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let broken = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        let next = try await store.edit("shoppers", 124) { $0["customer", "firstName"] = "Eve" }
        _ = try await store.file.write("break") { ledger in
            try ledger.write("UPDATE edit SET changes = replace(changes, '\"customer\"', '\"nowhere\"') WHERE push = 1")
        }
        #expect(try await store.sync().isOK)
        #expect(await broken.outcome.problem?["code"] == "not-built")
        #expect(await next.outcome.status == .merged)
        #expect(try await store.refusedEdits().first?.edits.first?.changeset["nowhere"]["firstName"] != nil)
    }

    @Test("An error of a hook adds nothing, and the sync continues")
    func hookError() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway)
        let registration = store.beforeStore { change in
            try change.transaction.edit("shoppers", change.id) { $0["customer", "lastName"] = "lost" }
            throw StorageFault()
        }
        var record = try #require(gateway.record("shoppers", 124))
        record["customer"]["firstName"] = "Eve"
        gateway.put(record, in: "shoppers", id: 124)
        #expect(try await store.sync().isOK)
        #expect(try await store.record("shoppers", 124)?["customer", "firstName"] == "Eve")
        #expect(await store.status.unsent == 0)
        await registration.end()
    }

    // MARK: Token functions

    /// A token function whose first call never returns, also if its task is cancelled.
    private final class StuckToken: Sendable {
        private let count = Mutex(0)
        private let (firstCalls, firstCall) = AsyncStream.makeStream(of: Void.self)
        var calls: Int { count.withLock { $0 } }

        /// Waits for the first call.
        func wasCalled() async { for await _ in firstCalls { return } }

        func ask() async -> String {
            let call = count.withLock { count in
                count += 1
                return count
            }
            if call == 1 {
                firstCall.yield()
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            }
            return "token"
        }
    }

    @Test("A token function that does not return in 30 s is called again at the next try")
    func silentToken() async throws {
        let clock = ManualClock()
        let token = StuckToken()
        let store = try await memoryStore(StoreTests.gateway(), clock: clock) { await token.ask() }
        async let report = store.sync()
        await token.wasCalled()
        let time = Task {
            while !Task.isCancelled {
                await Task.yield()
                clock.advance(11)
            }
        }
        #expect(try await report.phase == .waiting)
        time.cancel()
        #expect(token.calls == 1)
        #expect(try await store.sync().isOK)
        #expect(token.calls == 2)
    }

    @Test("The deadline of a sync ends it while a token function does not return")
    func theDeadlineHolds() async throws {
        let clock = ManualClock()
        let token = StuckToken()
        let store = try await memoryStore(StoreTests.gateway(), clock: clock) { await token.ask() }
        async let report = store.sync(deadline: .seconds(5))
        await token.wasCalled()
        let time = Task {
            while !Task.isCancelled {
                await Task.yield()
                clock.advance(1)
            }
        }
        #expect(try await report.error == "out of time")
        time.cancel()
        #expect(await store.status.phase == .idle)
    }

    @Test(
        "close() returns within two seconds while a token function or a handler of the app does not",
        arguments: [true, false])
    func closeReturns(isToken: Bool) async throws {
        let gateway = try StoreTests.gateway()
        let token = StuckToken()
        let store: FieldMergeStore
        let (stuck, isStuck) = AsyncStream.makeStream(of: Void.self)
        if isToken {
            store = try await memoryStore(gateway) { await token.ask() }
        } else {
            store = try await StoreTests.synced(gateway)
            try await store.onConflict { _ in
                isStuck.yield()
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return nil
            }
            try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            var record = try #require(gateway.record("shoppers", 123))
            record["customer"]["firstName"] = "Jim"
            gateway.put(record, in: "shoppers", id: 123)
        }
        let syncing = Task { try await store.sync() }
        if isToken { await token.wasCalled() } else { for await _ in stuck { break } }
        let began = ContinuousClock.now
        await store.close()
        #expect(ContinuousClock.now - began < .seconds(2.5))
        #expect(await store.status.phase == .closed)
        if isToken { await #expect(throws: FieldMergeError.storeClosed) { try await syncing.value } }
    }

    // MARK: Sign-out

    @Test("An edit during a sign-out is counted, or throws")
    func editDuringSignOut() async throws {
        for _ in 0..<40 {
            let folder = try TemporaryFolder()
            let gateway = try StoreTests.gateway()
            let store = try await StoreTests.synced(gateway, at: folder.file("store.db"))
            async let edit = try? store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
            async let end: Void? = try? store.signOut(unsent: .refuse)
            let (isStored, isOver) = (await edit != nil, await end != nil)
            #expect(isStored != isOver, "an edit that is stored stops the sign-out")
            if isStored {
                #expect(await store.status.unsent == 1)
                #expect(try await store.sync().isOK)
                #expect(gateway.record("shoppers", 123)?["customer"]["firstName"] == "Bob")
            } else {
                await #expect(throws: FieldMergeError.storeClosed) {
                    try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
                }
            }
            await store.close()
        }
    }

    @Test("A store that shares the file is signed out as well")
    func otherOpener() async throws {
        let folder = try TemporaryFolder()
        let gateway = try StoreTests.gateway()
        let store = try await StoreTests.synced(gateway, at: folder.file("store.db"))
        let other = try await StoreTests.synced(gateway, at: folder.file("store.db"))
        try await store.signOut(unsent: .refuse)
        await #expect(throws: FieldMergeError.storeClosed) {
            try await other.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        }
        await #expect(throws: FieldMergeError.storeClosed) { try await other.sync() }
        await other.close()
    }

    @Test("After a refused sign-out the store continues")
    func refusedSignOut() async throws {
        let gateway = try StoreTests.gateway()
        let store = try await memoryStore(gateway, clock: SystemClock())
        #expect(try await store.sync().isOK)
        let ticket = try await store.edit("shoppers", 123) { $0["customer", "firstName"] = "Bob" }
        await #expect(throws: FieldMergeError.unsentEdits(unsent: 1)) { try await store.signOut(unsent: .refuse) }
        try await store.start()
        #expect(await ticket.outcome.status == .merged)
        try await store.signOut(unsent: .refuse)
    }
}

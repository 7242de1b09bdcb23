import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// A store whose process can be killed at any step of any of its transactions.
actor WalkingDevice {
    private let url: URL
    private let gateway: MemoryGateway
    private let clock: ManualClock
    private let seed: UInt64
    private(set) var store: FieldMergeStore

    /// Counts steps, and ends the process at one of them, or throws there once.
    private final class StepCounter: Sendable {
        private struct State {
            var left: Int?
            var isFault = false
        }

        private let state = Mutex(State())

        func take() throws {
            let error: (any Error)? = state.withLock { state in
                guard let steps = state.left else { return nil }
                state.left = steps - 1
                guard steps <= 1 else { return nil }
                if state.isFault { state.left = nil }
                return state.isFault ? FaultTests.StorageFault() : Killed()
            }
            if let error { throw error }
        }

        func reset(endAfter steps: Int?, isFault: Bool = false) {
            state.withLock { $0 = State(left: steps, isFault: isFault) }
        }
    }

    private let counter = StepCounter()

    init(_ url: URL, _ gateway: MemoryGateway, _ clock: ManualClock, seed: UInt64) async throws {
        self.url = url
        self.gateway = gateway
        self.clock = clock
        self.seed = seed
        store = try await memoryStore(gateway, at: url, clock: clock, seed: seed)
        observe()
    }

    private func observe() {
        let counter = counter
        store.context.observeSteps { _ in try counter.take() }
    }

    func endAfter(_ steps: Int, isFault: Bool) { counter.reset(endAfter: steps, isFault: isFault) }
    func live() { counter.reset(endAfter: nil) }

    func restart() async throws {
        store.file.close()
        clock.advance(60)  // the lease of a killed process has ended
        store = try await memoryStore(gateway, at: url, clock: clock, seed: seed)
        live()
        observe()
    }

    /// Makes an edit, and returns whether the process was killed during it.
    func isKilled(by edit: @Sendable (FieldMergeStore) async throws -> Void) async throws -> Bool {
        do {
            try await edit(store)
            return false
        } catch is Killed {
            return true
        } catch is FaultTests.StorageFault {
            return true
        }
    }

    func sync() async throws -> SyncReport { try await store.sync() }
}

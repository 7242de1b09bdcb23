import Foundation
import Synchronization

/// What a program writes, read as it comes.
final class ProcessOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isOver = false
        var waiter: (mark: String, continuation: CheckedContinuation<String?, Never>)?
    }

    let pipe = Pipe()
    private let state = Mutex(State())

    init() {
        pipe.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil }
            self?.take(data)
        }
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// The first whole line with a mark in it; nil where the program ends without one.
    func line(containing mark: String) async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = (mark, continuation) }
            take(nil)
        }
    }

    /// - Parameter data: what came; empty at the end, nil where nothing did.
    private func take(_ data: Data?) {
        let settled = state.withLock { state -> (CheckedContinuation<String?, Never>, String?)? in
            if let data { state.bytes += data }
            if data?.isEmpty == true { state.isOver = true }
            guard let waiter = state.waiter else { return nil }
            let lines = String(decoding: state.bytes, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let line = lines.dropLast().first { $0.contains(waiter.mark) }.map(String.init)
            guard line != nil || state.isOver else { return nil }
            state.waiter = nil
            return (waiter.continuation, line)
        }
        settled?.0.resume(returning: settled?.1)
    }
}

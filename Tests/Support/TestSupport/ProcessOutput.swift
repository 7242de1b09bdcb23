import Foundation
import Synchronization

/// The output of a program, read while it runs.
///
/// A thread reads each output. `FileHandle.readabilityHandler` is not used: with many programs at once, Dispatch
/// reported a pipe that it had already released, and the test run crashed.
final class ProcessOutput: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isOver = false
        var waiter: (mark: String, continuation: CheckedContinuation<String?, Never>)?
    }

    let pipe = Pipe()
    private let state = Mutex(State())

    init() {
        // The thread keeps the reading end, so the descriptor remains valid until the last writer has closed it.
        let reading = pipe.fileHandleForReading
        let thread = Thread { [weak self] in
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                let count = read(reading.fileDescriptor, &buffer, buffer.count)
                if count < 0 && errno == EINTR { continue }
                self?.take(Array(buffer.prefix(max(count, 0))))
                if count <= 0 { return }
            }
        }
        thread.stackSize = 256 * 1_024
        thread.start()
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// The first whole line that contains a text; nil if the program ends without one.
    func line(containing mark: String) async -> String? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiter = (mark, continuation) }
            take(nil)
        }
    }

    /// - Parameter bytes: the new output; empty at the end, nil if there is none.
    private func take(_ bytes: [UInt8]?) {
        let settled = state.withLock { state -> (CheckedContinuation<String?, Never>, String?)? in
            if let bytes { state.bytes += bytes }
            if bytes?.isEmpty == true { state.isOver = true }
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

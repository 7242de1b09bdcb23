import Dispatch
import Synchronization

/// Runs requests with large bodies on a few separate threads, so that they do not delay other requests.
final class LargeWork: TaskExecutor {
    private let queues: [DispatchQueue]
    private let next = Atomic<Int>(0)

    /// The minimum bytes of a large body.
    private static let size = 65_536
    /// The minimum bytes of a compressed body, which may expand a thousandfold.
    private static let packedSize = 4_096

    /// - Parameter threads: the maximum requests at once.
    init(threads: Int) {
        queues = (0..<max(threads, 1)).map { DispatchQueue(label: "fieldmerge.large-\($0)") }
    }

    static func takes(_ bytes: Int, isPacked: Bool) -> Bool { bytes >= (isPacked ? packedSize : size) }

    var steps: Int { next.load(ordering: .relaxed) }

    /// Runs work on many bytes here, other work on the caller's executor.
    func run<Answer>(on bytes: Int, _ work: () async throws -> Answer) async rethrows -> Answer {
        guard Self.takes(bytes, isPacked: false) else { return try await work() }
        return try await withTaskExecutorPreference(self) { try await work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let number = next.wrappingAdd(1, ordering: .relaxed).newValue
        queues[Int(UInt(bitPattern: number) % UInt(queues.count))].async {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

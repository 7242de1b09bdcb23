import Dispatch
import Synchronization

/// Runs requests with large bodies on threads of their own, few of them, so that small ones do not queue behind.
///
/// To read a body, and to write its answer, takes a processor for as long as it is large; on the threads that all requests
/// share a few of them would hold up everybody.
final class LargeWork: TaskExecutor {
    private let queues: [DispatchQueue]
    private let next = Atomic<Int>(0)

    /// Bytes from which a body is large.
    private static let size = 65_536
    /// The same of one that is packed, and may be a thousand times as long.
    private static let packedSize = 4_096

    /// - Parameter threads: how many requests are worked on at once at most.
    init(threads: Int) {
        queues = (0..<max(threads, 1)).map { DispatchQueue(label: "fieldmerge.large-\($0)") }
    }

    /// Returns true where a request is to run here.
    static func takes(_ bytes: Int, isPacked: Bool) -> Bool { bytes >= (isPacked ? packedSize : size) }

    /// The steps of requests that were worked on here.
    var steps: Int { next.load(ordering: .relaxed) }

    /// Runs what takes time in proportion to many bytes here; what does not, where its caller runs.
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

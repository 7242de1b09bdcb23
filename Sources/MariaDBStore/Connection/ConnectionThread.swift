import Glibc
import Synchronization

/// A serial executor with its own thread, so that the blocking C client never blocks a cooperative thread.
///
/// Source of the idea: Swift Evolution SE-0392, custom actor executors.
final class ConnectionThread: SerialExecutor {
    private struct Queue {
        var jobs: [UnownedJob] = []
        var isStopped = false
    }

    private let queue = Mutex(Queue())
    private let signal = Signal()

    /// - Throws: the `errno` of a thread that could not start.
    init() throws(ThreadStartError) {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<ConnectionThread>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        guard status == 0 else {
            context.release()
            throw ThreadStartError(code: status)
        }
        pthread_detach(thread)
    }

    /// Queues a job for the thread.
    ///
    /// The signal is raised under the lock. Otherwise the job could run first and free this object with its semaphore.
    func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        queue.withLock {
            $0.jobs.append(unowned)
            signal.raise()
        }
    }

    /// Ends the thread after the queued jobs.
    func stop() {
        queue.withLock {
            $0.isStopped = true
            signal.raise()
        }
    }

    private func run() {
        while true {
            signal.wait()
            let (jobs, isStopped) = queue.withLock { queue in
                let jobs = queue.jobs
                queue.jobs.removeAll(keepingCapacity: true)
                return (jobs, queue.isStopped)
            }
            for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
            if jobs.isEmpty, isStopped { return }
            // The next round handles a stop that came with jobs.
            if isStopped { signal.raise() }
        }
    }
}

struct ThreadStartError: Error {
    let code: Int32
}

/// A POSIX semaphore.
///
/// `@unchecked Sendable`: sem_post and sem_wait are thread-safe by POSIX, and the pointer never changes. The caller of
/// `raise` has the lock, which the thread needs before it can end.
private final class Signal: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func raise() { sem_post(semaphore) }

    func wait() {
        while sem_wait(semaphore) != 0 {}
    }
}

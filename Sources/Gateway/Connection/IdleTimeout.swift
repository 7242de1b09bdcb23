import NIOCore

/// Closes a connection that has waited too long for a request.
///
/// Its functions run on the channel's event loop.
final class IdleTimeout {
    private let time: TimeAmount
    private var alarm: Scheduled<Void>?
    /// The time at which the client had read most of the last answer.
    private var waitingSince = NIODeadline.now()

    init(_ time: TimeAmount) {
        self.time = time
    }

    /// Begins the checks of a connection.
    ///
    /// - Parameter isWaiting: returns true while the connection waits for a request.
    func start(_ context: ChannelHandlerContext, isWaiting: @escaping () -> Bool) {
        check(context, after: time, isWaiting)
    }

    /// Restarts the timeout after an answer.
    func restart() { waitingSince = .now() }

    func stop() { alarm?.cancel() }

    private func check(_ context: ChannelHandlerContext, after pause: TimeAmount, _ isWaiting: @escaping () -> Bool) {
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            guard isWaiting(), UnreadTimeout.unsentBytes(context) == 0 else {
                return self.check(context, after: self.time, isWaiting)
            }
            let (now, end) = (NIODeadline.now(), self.waitingSince + self.time)
            if end <= now { return context.close(promise: nil) }
            self.check(context, after: end - now, isWaiting)
        }
    }
}

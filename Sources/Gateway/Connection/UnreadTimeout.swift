import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Closes a connection whose client does not read its answers.
///
/// Each byte that the client reads restarts the timeout. Its functions run on the channel's event loop.
final class UnreadTimeout {
    private let time: TimeAmount
    private var alarm: Scheduled<Void>?
    private var written = 0
    /// The bytes that had left at the last check, and the time of their last change.
    private var lastSent = (count: 0, at: NIODeadline.now())

    init(_ time: TimeAmount) {
        self.time = time
    }

    /// Counts bytes after they were written.
    func note(_ count: Int, writtenTo context: ChannelHandlerContext) {
        written += count
        guard alarm == nil else { return }
        let unsent = Self.unsentBytes(context)
        guard unsent > 0 else { return }
        lastSent = (written - unsent, .now())
        watch(context)
    }

    func stop() { alarm?.cancel() }

    private func watch(_ context: ChannelHandlerContext) {
        let pause = TimeAmount.nanoseconds(time.nanoseconds / 4)
        alarm = context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
            self.alarm = nil
            let unsent = Self.unsentBytes(context)
            guard unsent > 0 else { return }
            let sent = self.written - unsent
            if sent != self.lastSent.count { self.lastSent = (sent, .now()) }
            guard NIODeadline.now() - self.lastSent.at < self.time else { return Self.abort(context.channel) }
            self.watch(context)
        }
    }

    /// Returns the bytes that were written and that the system has not accepted yet.
    static func unsentBytes(_ context: ChannelHandlerContext) -> Int {
        (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// Makes the system close a connection whose client acknowledges no bytes for a time.
    ///
    /// Otherwise the system keeps unread bytes even after the channel was closed. Only Linux has this option.
    static func set(_ time: TimeAmount, on channel: any Channel) {
        #if os(Linux)
            let option = ChannelOptions.Types.SocketOption(
                level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT))
            try? channel.syncOptions?.setOption(option, value: Int(time.nanoseconds / 1_000_000))
        #endif
    }

    /// Closes a connection and discards its unread bytes.
    static func abort(_ channel: any Channel) {
        // Otherwise the system keeps the unread bytes as long as the client's machine answers.
        _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        channel.close(promise: nil)
    }
}

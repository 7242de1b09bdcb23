import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The end of connections whose clients do not take what they have been sent.
enum UnreadTimeout {
    /// Has the system end a connection once its client has taken nothing for a while of what the system holds for it.
    ///
    /// What the system holds has left the gateway, and it would go on holding it also after the connection was closed
    /// here. Where there is no such setting, only what has not left can be seen to.
    static func set(_ time: TimeAmount, on channel: any Channel) {
        #if os(Linux)
            let option = ChannelOptions.Types.SocketOption(
                level: .tcp, name: NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT))
            try? channel.syncOptions?.setOption(option, value: Int(time.nanoseconds / 1_000_000))
        #endif
    }

    /// Closes a connection and forgets what its client has not taken.
    static func abort(_ channel: any Channel) {
        // Without it the system would hold what is left for as long as the client's machine answers.
        _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        channel.close(promise: nil)
    }
}

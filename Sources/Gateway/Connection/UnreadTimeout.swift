import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Closes connections whose clients do not read.
enum UnreadTimeout {
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

import NIOCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The gateway cannot listen on its address.
package struct ListenError: Error, CustomStringConvertible {
    package let description: String

    init(_ error: IOError, host: String, port: Int) {
        let place = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        description =
            switch error.errnoCode {
            case EADDRINUSE: "port \(port) is taken: another program listens on \(place); choose another with --listen"
            case EADDRNOTAVAIL: "this machine has no address \(host), so nothing can listen on \(place)"
            case EACCES: "this user may not listen on \(place); ports below 1024 are the system's"
            default: "cannot listen on \(place): \(String(cString: strerror(error.errnoCode)))"
            }
    }
}

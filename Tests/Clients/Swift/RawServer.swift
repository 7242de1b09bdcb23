#if canImport(Glibc)
    import Foundation
    import Glibc
    import Synchronization

    /// A server on a socket that does more than HTTP servers: it closes kept connections, sends byte by byte, and reads
    /// slowly.
    final class RawServer: Sendable {
        let url: URL
        private let listener: Int32
        private let number = Mutex(0)

        /// - Parameter serve: called on a separate thread for each connection, the first one with 0.
        init(_ serve: @escaping @Sendable (RawConnection, Int) -> Void) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    _ = bind(listener, address, size)
                    _ = listen(listener, 16)
                    _ = getsockname(listener, address, &size)
                }
            }
            self.listener = listener
            guard let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))") else {
                throw URLError(.badURL)
            }
            self.url = url
            Thread.detachNewThread { [weak self] in
                // Its number may be that of another file as soon as it is closed.
                defer { close(listener) }
                while true {
                    let connection = accept(listener, nil, nil)
                    guard connection >= 0, let self else { return }
                    let number = self.number.withLock { number in
                        defer { number += 1 }
                        return number
                    }
                    Thread.detachNewThread {
                        serve(RawConnection(connection), number)
                        close(connection)
                    }
                }
            }
        }

        deinit {
            shutdown(listener, Int32(SHUT_RDWR))
        }
    }

    /// A connection of a client.
    struct RawConnection: Sendable {
        private let socket: Int32
        /// `POLLRDHUP` of Linux.
        private static let peerEnds: Int16 = 0x2000

        init(_ socket: Int32) { self.socket = socket }

        /// Reads a request; nil if the connection ends before it is complete.
        ///
        /// - Parameter pause: the milliseconds before each 16 kB of the body.
        func request(pause: Int32 = 0) -> (head: String, body: Data)? {
            var data = Data()
            let end = Data("\r\n\r\n".utf8)
            while data.range(of: end) == nil {
                guard let more = read(1) else { return nil }
                data += more
            }
            let head = String(decoding: data, as: UTF8.self).lowercased()
            var body = Data()
            let length = head.components(separatedBy: "content-length: ").dropFirst().first
                .flatMap { Int($0.prefix { $0.isNumber }) }
            while body.count < length ?? 0 {
                guard pause == 0 || !isEnded(within: pause), let more = read(min(16_384, (length ?? 0) - body.count))
                else { return nil }
                body += more
            }
            return (head, body)
        }

        /// Returns whether the client ends the connection within so many milliseconds.
        func isEnded(within milliseconds: Int32) -> Bool {
            var end = pollfd(fd: socket, events: Self.peerEnds, revents: 0)
            return poll(&end, 1, milliseconds) != 0
        }

        private func read(_ most: Int) -> Data? {
            var buffer = [UInt8](repeating: 0, count: most)
            let count = recv(socket, &buffer, most, 0)
            return count > 0 ? Data(buffer[..<count]) : nil
        }

        func write(_ text: String) {
            let bytes = Array(text.utf8)
            _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }

        func answer(_ body: String) {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)"
            write("\(head)\r\n\r\n\(body)")
        }
    }
#endif

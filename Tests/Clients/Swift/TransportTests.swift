#if canImport(Glibc)
    import Foundation
    import Glibc
    import Synchronization
    import Testing

    @testable import FieldMergeClient

    /// The network on Linux: packed bodies, patience, and connections that a server closes.
    @Suite(.timeLimit(.minutes(2))) struct TransportTests {
        /// The output of `gzip -d` for these bytes.
        private static func unpacked(_ packed: [UInt8]) throws -> Data {
            let folder = try TemporaryFolder()
            try Data(packed).write(to: folder.file("packed.gz"))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["gzip", "-d", folder.file("packed.gz").path]
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            return try Data(contentsOf: folder.file("packed"))
        }

        @Test("Every body is unpacked as it was")
        func gzip() throws {
            var dice = SeededDice(1)
            var bodies: [[UInt8]] = [[], [0], Array("aaaa".utf8), Array(repeating: 97, count: 70_000)]
            bodies.append((0..<100_000).map { _ in UInt8.random(in: 0...255, using: &dice) })
            let words = ["\"customer\":{", "\"old\":", "null,", "é€😀", "\"2 High St\"", "}", "x"]
            bodies.append(Array((0..<20_000).map { _ in dice.pick(words) }.joined().utf8))
            // Matches at the longest distance and beyond.
            let far = (0..<32_768).map { _ in UInt8.random(in: 0...255, using: &dice) }
            bodies.append(far + far.prefix(300) + far.suffix(9) + far)
            for body in bodies { #expect(try Self.unpacked(Gzip.pack(body)) == Data(body)) }
            let json = bodies[5]
            #expect(Gzip.pack(json).count < json.count / 2)
        }

        private static func text(_ response: TransportResponse) async throws -> String {
            var body = Data()
            for try await part in response.body { body += part }
            return String(decoding: body, as: UTF8.self)
        }

        @Test("A body of more than a kilobyte is packed, a shorter one is not")
        func longBodiesArePacked() async throws {
            let server = try RawServer { connection, _ in
                while let (head, body) = connection.request() {
                    connection.answer("\(head.contains("content-encoding: gzip")) \(body.count)")
                }
            }
            let transport = HTTPTransport(server: server.url)
            let short = TransportRequest(method: "POST", path: "/", body: Data(repeating: 97, count: 1_000))
            #expect(try await Self.text(transport.send(short)) == "false 1000")
            let long = TransportRequest(method: "POST", path: "/", body: Data(repeating: 97, count: 100_000))
            let answer = try await Self.text(transport.send(long)).split(separator: " ")
            #expect(answer[0] == "true")
            #expect((Int(answer[1]) ?? .max) < 2_000)
        }

        @Test("A push after the server has closed the connection arrives completely and at once")
        func aClosedConnection() async throws {
            let server = try RawServer { connection, _ in
                guard connection.request() != nil else { return }
                connection.answer("first")
                // The connection is kept, and closed as soon as something comes.
                _ = connection.request()
            }
            let transport = HTTPTransport(server: server.url)
            let body = Data("{\"pushes\":[]}".utf8)
            for _ in 0..<3 {
                let get = try await transport.send(TransportRequest(method: "GET", path: "/"))
                #expect(try await Self.text(get) == "first")
                let began = ContinuousClock.now
                let post = try await transport.send(
                    TransportRequest(method: "POST", path: "/", body: body, timeout: 10))
                #expect(try await Self.text(post) == "first")
                #expect(ContinuousClock.now - began < .seconds(5))
            }
        }

        @Test("A push that is broken off ends at once, also before it has begun")
        func brokenOffPushesEnd() async throws {
            let server = try RawServer { connection, _ in
                guard let (head, _) = connection.request() else { return }
                // Without an answer, the connection remains open until the client closes it.
                if head.contains("/lost") { _ = connection.request() } else { connection.answer("{}") }
            }
            let transport = HTTPTransport(server: server.url)
            let push = TransportRequest(method: "POST", path: "/", body: Data("{}".utf8), timeout: 30)
            for _ in 0..<40 {
                for _ in 0..<3 { #expect(try await Self.text(transport.send(push)) == "{}") }
                let lost = Task {
                    try await transport.send(TransportRequest(method: "POST", path: "/lost", body: Data("{}".utf8)))
                }
                lost.cancel()
                _ = await lost.result
            }
        }

        @Test("An upload and a download that make progress are not broken off, and a server that is silent is")
        func patienceFollowsProgress() async throws {
            let server = try RawServer { connection, _ in
                guard let (head, body) = connection.request(pause: 10) else { return }
                if head.contains("silent") { _ = connection.request() }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n")
                for _ in 0..<6 where !connection.isEnded(within: 500) {
                    connection.write("\(body.count % 10)")
                }
            }
            let transport = HTTPTransport(server: server.url)
            let slow = TransportRequest(method: "GET", path: "/", timeout: 1)
            #expect(try await Self.text(transport.send(slow)) == "000000")
            var dice = SeededDice(2)
            let photo = Data((0..<4_000_000).map { _ in UInt8.random(in: 0...255, using: &dice) })
            let upload = TransportRequest(method: "POST", path: "/", body: photo, timeout: 1)
            #expect(try await Self.text(transport.send(upload)).count == 6)
            await #expect(throws: (any Error).self) {
                _ = try await transport.send(TransportRequest(method: "GET", path: "/silent", timeout: 1))
            }
        }
    }
#endif

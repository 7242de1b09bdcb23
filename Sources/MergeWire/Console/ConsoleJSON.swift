package import MergeCore

/// Answers for the operators' console.
package enum ConsoleJSON {
    /// Returns the answer of `GET /v1/operations/console`.
    package static func state(mode: String, version: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("mode")
            writer.string(mode)
            writer.member("version")
            writer.string(version)
        }
        return writer.bytes
    }

    /// A device in the answer of `GET /v1/operations/clients`.
    package struct Client {
        let who: String
        let device: String?
        let program: String?
        let seen: DateTime?
        let revision: Int?
        let lag: Int?
        let refused: Int

        /// Bundles the data of a device.
        ///
        /// - Parameter lag: the revisions that the client has not read; nil if its feed has ended.
        package init(
            who: String, device: String?, program: String?, seen: DateTime?, revision: Int?, lag: Int?, refused: Int
        ) {
            self.who = who
            self.device = device
            self.program = program
            self.seen = seen
            self.revision = revision
            self.lag = lag
            self.refused = refused
        }
    }

    /// Returns the answer of `GET /v1/operations/clients`.
    package static func clients(_ clients: [Client], next: String?) -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + 128 * clients.count)
        writer.object { writer in
            writer.member("clients")
            writer.array { writer in
                for client in clients { write(client, &writer) }
            }
            writer.member("next")
            write(next, &writer)
        }
        return writer.bytes
    }

    private static func write(_ client: Client, _ writer: inout JSONWriter) {
        writer.object { writer in
            let seen = client.seen.map { $0.text(separator: "T", fraction: 0) + "Z" }
            for (name, text) in [
                ("who", client.who), ("device", client.device), ("program", client.program), ("seen", seen),
            ] {
                writer.name(name)
                write(text, &writer)
            }
            for (name, number) in [("revision", client.revision), ("lag", client.lag), ("refused", client.refused)] {
                writer.name(name)
                if let number { writer.integer(number) } else { writer.null() }
            }
        }
    }

    private static func write(_ text: String?, _ writer: inout JSONWriter) {
        if let text { writer.string(text) } else { writer.null() }
    }

    /// The counts of one minute, and their names.
    package typealias Minute = (at: String, counts: [(String, Int)])

    /// Returns the answer of `GET /v1/operations/activity`.
    package static func activity(now: DateTime, minutes: [Minute], isComplete: Bool) -> [UInt8] {
        var writer = JSONWriter(capacity: 128 + 96 * minutes.count)
        writer.object { writer in
            writer.member("now")
            writer.string(now.text(separator: "T", fraction: 0) + "Z")
            writer.member("minutes")
            writer.array { writer in
                for minute in minutes {
                    writer.object { writer in
                        writer.member("at")
                        writer.string(minute.at)
                        for (name, count) in minute.counts {
                            writer.name(name)
                            writer.integer(count)
                        }
                    }
                }
            }
            writer.member("isComplete")
            writer.flag(isComplete)
        }
        return writer.bytes
    }
}

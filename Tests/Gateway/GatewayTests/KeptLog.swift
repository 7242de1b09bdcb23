import Logging
import Synchronization

/// Keeps the lines of a gateway's log.
final class KeptLog: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    var handler: any LogHandler { Handler(log: self) }

    private struct Handler: LogHandler {
        let log: KeptLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.state.withLock { $0.append("\(event.level) \(event.message)") } }
    }
}

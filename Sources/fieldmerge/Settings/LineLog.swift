import Gateway
import Logging
import MergeCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The log on standard error: one line an event, written at once, its time in UTC.
///
/// swift-log's own handler asks the system for the time zone's file and sorts the metadata anew for every line, which is
/// noticeable where each request has one.
struct LineLog: LogHandler {
    /// `YYYY-MM-DDThh:mm:ssZ`.
    private static let clock = SecondText(text)

    let label: String
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String) {
        self.label = label
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = ""
        line.reserveCapacity(256)
        line += Self.clock.now
        line += " "
        line += event.level.rawValue
        line += " "
        line += label
        line += ": "
        var own = metadata
        if let provider = metadataProvider { own.merge(provider.get()) { $1 } }
        if let more = event.metadata { own.merge(more) { $1 } }
        if !own.isEmpty {
            for (key, value) in own.sorted(by: { $0.key < $1.key }) { line += key + "=" + value.description + " " }
        }
        line += event.message.description
        if let error = event.error { line += " (\(error))" }
        line += "\n"
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, rest.count > 0 {
                let count = write(STDERR_FILENO, start, rest.count)
                if count < 0 && errno == EINTR { continue }
                // Where the log cannot be written there is nowhere left to say so.
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    @Sendable private static func text(_ second: Int) -> String {
        // Clocks do not reach the year 10,000.
        let date = CalendarDate(dayNumber: second / 86_400) ?? .zero
        let time = second % 86_400
        let moment = DateTime(
            date: date, hour: time / 3_600, minute: time / 60 % 60, second: time % 60, microsecond: 0)
        return (moment?.text(separator: "T", fraction: 0) ?? "") + "Z"
    }
}

import Gateway
import Logging
import MergeCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The log on standard error: one line for each event, written at once, with its time in UTC.
///
/// For each line, swift-log's own handler reads the time zone's file and sorts the metadata. This cost matters with one
/// line for each request.
struct LineLog: LogHandler {
    /// `YYYY-MM-DDThh:mm:ssZ`.
    private static let clock = SecondText(text)

    enum Form: String, CaseIterable {
        case text
        case json
    }

    let label: String
    let form: Form
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, form: Form = .text) {
        self.label = label
        self.form = form
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var own = metadata
        if let provider = metadataProvider { own.merge(provider.get()) { $1 } }
        if let more = event.metadata { own.merge(more) { $1 } }
        if let error = event.error { own["error"] = .string("\(error)") }
        let fields = own.isEmpty ? [] : own.sorted { $0.key < $1.key }
        var line = form == .text ? text(event, fields) : Array(json(event, fields: fields).utf8)
        line.append(UInt8(ascii: "\n"))
        line.withUnsafeBytes { bytes in
            var rest = bytes
            while let start = rest.baseAddress, rest.count > 0 {
                let count = write(STDERR_FILENO, start, rest.count)
                if count < 0 && errno == EINTR { continue }
                // An error of the log itself cannot be logged.
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    private func text(_ event: LogEvent, _ fields: [(key: String, value: Logger.MetadataValue)]) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        for part in [Self.clock.now, " ", event.level.rawValue, " ", label, ": ", event.message.description] {
            line += part.utf8
        }
        for (key, value) in fields { line += " \(key)=\(Self.shown(value))".utf8 }
        return line
    }

    /// Returns one JSON object; fields with the name of a standard member are left out.
    private func json(_ event: LogEvent, fields: [(key: String, value: Logger.MetadataValue)]) -> String {
        var line = "{\"time\":" + QuotedText.of(Self.clock.now)
        line += ",\"level\":" + QuotedText.of(event.level.rawValue)
        line += ",\"logger\":" + QuotedText.of(label)
        line += ",\"message\":" + QuotedText.of(event.message.description)
        for (key, value) in fields where !Self.members.contains(key) {
            line += "," + QuotedText.of(key) + ":" + Self.shown(value)
        }
        return line + "}"
    }

    private static let members = ["time", "level", "logger", "message"]

    /// Returns numbers unchanged, and other values in quotes.
    private static func shown(_ value: Logger.MetadataValue) -> String {
        if case .stringConvertible(let number) = value {
            switch number {
            case let whole as Int: return String(whole)
            case let fraction as Double where fraction.isFinite: return String(fraction)
            default: break
            }
        }
        return QuotedText.of(value.description)
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

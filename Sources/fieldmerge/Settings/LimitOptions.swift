import ArgumentParser
import FoundationEssentials
import Gateway
import MergeService
import MergeWire

struct LimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Connections to the database. (default: 8)", valueName: "n"))
    var connections: Int?

    @Option(help: ArgumentHelp("Open connections of clients. (default: 10000)", valueName: "n"))
    var maxClients: Int?

    @Option(
        help: ArgumentHelp(
            "Pushes and reads of single records that wait for a transaction; further requests get 503. (default: 4096)",
            valueName: "n"))
    var maxWaiting: Int?

    @Option(help: ArgumentHelp("Bytes of an uncompressed body. (default: 8388608)", valueName: "bytes"))
    var maxBody: Int?

    @Option(help: ArgumentHelp("Levels of nesting of a body. (default: 32)", valueName: "n"))
    var maxDepth: Int?

    @Option(help: ArgumentHelp("Edits of a push. (default: 1000)", valueName: "n"))
    var maxEdits: Int?

    @Option(help: ArgumentHelp("Rows of all edits of a push. (default: 10000)", valueName: "n"))
    var maxItems: Int?

    @Option(help: ArgumentHelp("Rows of one record in one list section. (default: 10000)", valueName: "n"))
    var rowsPerRecord: Int?

    @Option(help: ArgumentHelp("Maximum number of records on a page. (default: 500)", valueName: "n"))
    var pageSize: Int?

    @Option(
        help: ArgumentHelp(
            "Pushes, or reads of single records, that may share one transaction; 1 disables sharing. (default: 32)",
            valueName: "n"))
    var coalesce: Int?

    @Option(
        help: ArgumentHelp(
            "Shared transactions at the same time; more only while some are stalled. (default: half the processors, see the guide)",
            valueName: "n"))
    var lanes: Int?

    @Option(help: ArgumentHelp("Seconds that a request may take. (default: 30)", valueName: "seconds"))
    var requestTime: Int?

    @Option(
        help: ArgumentHelp("Seconds that the head of a request may take. (default: 30)", valueName: "seconds"))
    var headTime: Int?

    @Option(
        help: ArgumentHelp("Seconds that the body of a request may take. (default: 30)", valueName: "seconds"))
    var bodyTime: Int?

    @Option(
        help: ArgumentHelp(
            "Seconds after which the gateway disconnects a client that reads nothing of its answer. (default: 30)",
            valueName: "seconds"))
    var answerTime: Int?

    @Option(help: ArgumentHelp("Bytes of the answer to a push. (default: 33554432)", valueName: "bytes"))
    var maxAnswer: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes of bodies and answers in memory; further requests get 503. (default: 134217728)",
            valueName: "bytes"))
    var maxMemory: Int?

    @Option(
        help: ArgumentHelp(
            "Bytes that one token may add to the journal per day. (default: 1073741824)", valueName: "bytes"))
    var maxJournalDay: Int?

    func connectionCount(_ settings: Settings) throws -> Int {
        try settings.number(connections, .connections, default: 8, in: 1...1_000)
    }

    func configuration(_ settings: Settings) throws -> GatewayConfiguration {
        var out = GatewayConfiguration()
        try settings.set(&out.clients, to: maxClients, .maxClients, in: 1...1_000_000)
        try settings.set(&out.merge.waiting, to: maxWaiting, .maxWaiting, in: 1...1_000_000)
        try settings.set(&out.wire.bodyBytes, to: maxBody, .maxBody, in: 1_024...1_073_741_824)
        // Jansson itself stops at 2,048 levels.
        try settings.set(&out.wire.depth, to: maxDepth, .maxDepth, in: 8...2_000)
        try settings.set(&out.wire.edits, to: maxEdits, .maxEdits, in: 1...1_000_000)
        try settings.set(&out.wire.items, to: maxItems, .maxItems, in: 1...10_000_000)
        try settings.set(&out.merge.rowsPerRecord, to: rowsPerRecord, .rowsPerRecord, in: 1...10_000_000)
        try settings.set(&out.merge.pageSize, to: pageSize, .pageSize, in: 1...100_000)
        try settings.set(&out.merge.coalesced, to: coalesce, .coalesce, in: 1...128)
        // More lanes mean smaller batches, and the server needs processors too. Pushes and reads have as many lanes
        // each, and other work also needs a connection.
        let most = (try connectionCount(settings) - 2) / 2
        out.merge.lanes = try settings.number(
            lanes, .lanes, default: max(1, min(ProcessInfo.processInfo.activeProcessorCount / 2, most)),
            in: 1...1_000)
        out.merge.maximumLanes = out.merge.lanes + 5
        // The limits leave processors and connections to short requests.
        out.merge.longReads = out.merge.lanes
        out.merge.longPushes = max(1, min(ProcessInfo.processInfo.activeProcessorCount, most))
        try setTimes(of: &out, settings)
        try setBytes(of: &out, settings)
        return out
    }

    private func setTimes(of out: inout GatewayConfiguration, _ settings: Settings) throws {
        try settings.set(&out.requestSeconds, to: requestTime, .requestTime, in: 1...3_600)
        try settings.set(&out.headSeconds, to: headTime, .headTime, in: 1...3_600)
        try settings.set(&out.bodySeconds, to: bodyTime, .bodyTime, in: 1...3_600)
        try settings.set(&out.answerSeconds, to: answerTime, .answerTime, in: 1...3_600)
    }

    private func setBytes(of out: inout GatewayConfiguration, _ settings: Settings) throws {
        try settings.set(&out.merge.answerBytes, to: maxAnswer, .maxAnswer, in: 65_536...1_073_741_824)
        out.heldBytes = try settings.number(
            maxMemory, .maxMemory, default: max(out.heldBytes, 2 * out.wire.bodyBytes),
            in: 2 * out.wire.bodyBytes...1_099_511_627_776)
        try settings.set(&out.journalBytesPerDay, to: maxJournalDay, .maxJournalDay, in: 65_536...1_099_511_627_776)
    }
}

import MergeService
import Operations
import RecordStore

/// The current load of the gateway, for `/metrics`.
struct GatewayGauges {
    /// The version of the rules; nil before the first rules are active.
    let rules: String?
    /// The number of faults of the newest rules.
    let ruleProblems: Int
    /// nil if the journal is off or unreadable.
    let journalRows: Int?
    /// The detected changes of the database's history.
    let historyChanges: Int
    /// nil if the database is a file.
    let connections: ConnectionCounts?
    let queues: [QueueLoad]
    let unreadable: [UnreadableRecords.Entry]

    /// The text for Prometheus, version 0.0.4.
    var text: String {
        var page = MetricsPage()
        page.begin("fieldmerge_info", type: "gauge", help: "1, with the versions of the program and of the rules")
        page.add("fieldmerge_info", labels: [("version", ProgramVersion.text), ("rules", rules ?? "")], value: 1)
        page.begin(
            "fieldmerge_rule_problems", type: "gauge", help: "What is wrong with the newest rules, as /readyz names it")
        page.add("fieldmerge_rule_problems", labels: [], value: ruleProblems)
        page.begin(
            "fieldmerge_history_changes_total", type: "counter",
            help: "Restores, failovers and lost journals that this gateway has detected")
        page.add("fieldmerge_history_changes_total", labels: [], value: historyChanges)
        if let journalRows {
            page.begin("fieldmerge_journal_rows", type: "gauge", help: "Rows of the journal, as the database estimates")
            page.add("fieldmerge_journal_rows", labels: [], value: journalRows)
        }
        if let connections { add(connections, to: &page) }
        if !queues.isEmpty { addQueues(to: &page) }
        page.add(unreadable)
        return page.text
    }

    private func add(_ connections: ConnectionCounts, to page: inout MetricsPage) {
        let name = "fieldmerge_database_connections"
        page.begin(name, type: "gauge", help: "Connections to the database: open, of them used, and how many may be")
        for (state, count) in [
            ("open", connections.open), ("used", connections.used), ("limit", connections.limit),
        ] {
            page.add(name, labels: [("state", state)], value: count)
        }
        page.begin("fieldmerge_database_waiting", type: "gauge", help: "Transactions that wait for a connection")
        page.add("fieldmerge_database_waiting", labels: [], value: connections.waiting)
    }

    private func addQueues(to page: inout MetricsPage) {
        page.begin("fieldmerge_queue_waiting", type: "gauge", help: "Pushes and reads that wait for a transaction")
        for queue in queues {
            page.add("fieldmerge_queue_waiting", labels: [("queue", queue.name)], value: queue.waiting)
        }
        page.begin("fieldmerge_batch_size", type: "histogram", help: "Pushes and reads that shared a transaction")
        for queue in queues {
            page.add(queue.sizes, as: "fieldmerge_batch_size", labels: [("queue", queue.name)])
        }
    }
}

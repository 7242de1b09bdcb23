import MergeService
import RecordStore

/// Figures that alerts need: the journal's size, the ability to write, certificate, memory and devices.
struct OperatorGauges {
    /// nil if the journal is off or cannot be read.
    let journalBytes: Int?
    let entries: Journal.EntryCounts?
    /// nil if the journal is off.
    let meter: JournalMeter?
    let canReadDatabase: Bool
    /// nil if the journal is off.
    let canReadJournal: Bool?
    let canWrite: Bool
    /// The second since 1970 at which the certificate ends; nil without one.
    let certificateEnd: Int?
    let devices: SyncedDevices
    let feedRestarts: Int

    /// The senders with a label.
    static let mostSenders = 20

    func add(to page: inout MetricsPage) {
        addJournal(to: &page)
        page.add("fieldmerge_database_up", gauge: "1 if the database answers", value: canReadDatabase ? 1 : 0)
        if let canReadJournal {
            page.add("fieldmerge_journal_up", gauge: "1 if the journal can be read", value: canReadJournal ? 1 : 0)
        }
        page.add("fieldmerge_writable", gauge: "1 if database and journal can be written", value: canWrite ? 1 : 0)
        if let certificateEnd {
            page.add(
                "fieldmerge_certificate_end_timestamp_seconds",
                gauge: "Second since 1970 at which the certificate ends",
                value: certificateEnd)
        }
        if let memory = ProcessMemory.residentBytes {
            page.add("process_resident_memory_bytes", gauge: "Memory of the process", value: memory)
        }
        page.begin("fieldmerge_devices", type: "gauge", help: "Devices by the time since they last read changes here")
        for (name, count) in devices.counts() {
            page.add("fieldmerge_devices", labels: [("within", name)], value: count)
        }
        page.begin(
            "fieldmerge_feed_restarts_total", type: "counter",
            help: "New feeds since this gateway started; every client took a snapshot")
        page.add("fieldmerge_feed_restarts_total", labels: [], value: feedRestarts)
    }

    private func addJournal(to page: inout MetricsPage) {
        if let journalBytes {
            page.add(
                "fieldmerge_journal_bytes", gauge: "Size of the journal, as the database estimates it",
                value: journalBytes)
        }
        if let entries {
            page.add(
                "fieldmerge_journal_oldest_entry_seconds", gauge: "Age of the oldest entry",
                value: entries.oldestSeconds ?? 0)
            page.add(
                "fieldmerge_refused_pushes", gauge: "Refused pushes of the last day that were not sent again",
                value: entries.refused)
        }
        guard let meter else { return }
        let name = "fieldmerge_journal_client_bytes"
        let largest = meter.largest(Self.mostSenders)
        page.begin(
            name, type: "gauge", help: "Bytes that a client added through this gateway in its current day; the largest")
        for (who, bytes) in largest.senders { page.add(name, labels: [("who", who)], value: bytes) }
        page.add("fieldmerge_journal_other_clients_bytes", gauge: "Bytes of all other clients", value: largest.others)
    }
}

extension MetricsPage {
    fileprivate mutating func add(_ name: String, gauge help: String, value: Int) {
        begin(name, type: "gauge", help: help)
        add(name, labels: [], value: value)
    }
}

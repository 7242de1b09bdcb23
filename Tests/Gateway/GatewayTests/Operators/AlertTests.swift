import Foundation
import TestSupport
import Testing

/// The alerts and the dashboard of Samples/operations, evaluated by Prometheus.
@Suite(.enabled(if: SampleOperationsTests.has("promtool"))) struct AlertTests {
    /// The figures of a gateway without a fault, each with its value or its growth in a minute.
    private static let healthy = [
        #"up{job="fieldmerge",instance="a"}"#: "1+0", "fieldmerge_ready": "1+0", "fieldmerge_maintenance": "0+0",
        "fieldmerge_database_up": "1+0", "fieldmerge_journal_up": "1+0", "fieldmerge_writable": "1+0",
        "fieldmerge_rule_problems": "0+0", #"fieldmerge_requests_total{status="200"}"#: "0+100",
        #"fieldmerge_requests_total{status="503"}"#: "0+1",
        #"fieldmerge_request_seconds_bucket{route="/v1/push",le="1"}"#: "0+100",
        #"fieldmerge_request_seconds_bucket{route="/v1/push",le="10"}"#: "0+100",
        #"fieldmerge_request_seconds_bucket{route="/v1/push",le="+Inf"}"#: "0+100",
        "fieldmerge_refused_pushes": "0+0", #"fieldmerge_problems_total{code="check",resource="shoppers"}"#: "0+1",
        #"fieldmerge_queue_waiting{queue="pushes"}"#: "10+0", "fieldmerge_database_waiting": "1+0",
        "fieldmerge_feed_pending": "5+0", "fieldmerge_scan_lag_seconds": "20+0",
        "fieldmerge_foreign_found_by_scan_only": "0+0", "fieldmerge_feed_restarts_total": "1+0",
        "fieldmerge_history_changes_total": "1+0", "fieldmerge_unreadable_records": "0+0",
        "fieldmerge_journal_bytes": "1000000000+0", "fieldmerge_journal_oldest_entry_seconds": "8640000+0",
        #"fieldmerge_journal_client_bytes{who="van-3"}"#: "1000000+0",
        "fieldmerge_certificate_end_timestamp_seconds": "8640000+0",
        #"process_resident_memory_bytes{job="fieldmerge"}"#: "200000000+0",
    ]

    /// The metrics that differ from a healthy gateway when exactly this alert fires.
    private static let faults: [(alert: String, figures: [String: String])] = [
        ("FieldMergeDown", [#"up{job="fieldmerge",instance="a"}"#: "0+0"]),
        ("FieldMergeNotReady", ["fieldmerge_ready": "0+0"]),
        ("FieldMergeDatabaseDown", ["fieldmerge_database_up": "0+0"]),
        ("FieldMergeDatabaseDown", ["fieldmerge_journal_up": "0+0"]),
        ("FieldMergeNotWritable", ["fieldmerge_writable": "0+0"]),
        (
            "FieldMergeMaintenance",
            ["fieldmerge_ready": "0+0", "fieldmerge_writable": "0+0", "fieldmerge_maintenance": "1+0"]
        ),
        ("FieldMergeRules", ["fieldmerge_rule_problems": "1+0"]),
        ("FieldMergeErrors", [#"fieldmerge_requests_total{status="503"}"#: "0+10"]),
        ("FieldMergeSlow", [#"fieldmerge_request_seconds_bucket{route="/v1/push",le="1"}"#: "0+90"]),
        ("FieldMergeRefusedPushes", ["fieldmerge_refused_pushes": "1+0"]),
        ("FieldMergeProblems", [#"fieldmerge_problems_total{code="check",resource="shoppers"}"#: "0+2"]),
        ("FieldMergeQueue", [#"fieldmerge_queue_waiting{queue="pushes"}"#: "2000+0"]),
        ("FieldMergeQueue", ["fieldmerge_database_waiting": "200+0"]),
        ("FieldMergeFeedLate", ["fieldmerge_feed_pending": "2000+0"]),
        ("FieldMergeForeignChangesLate", ["fieldmerge_scan_lag_seconds": "3600+0"]),
        ("FieldMergeLogIncomplete", ["fieldmerge_foreign_found_by_scan_only": "0+1"]),
        ("FieldMergeNewFeed", ["fieldmerge_feed_restarts_total": "0+1"]),
        ("FieldMergeNewFeed", ["fieldmerge_history_changes_total": "0+1"]),
        ("FieldMergeUnreadableRecords", ["fieldmerge_unreadable_records": "1+0"]),
        ("FieldMergeJournalSize", ["fieldmerge_journal_bytes": "30000000000+0"]),
        ("FieldMergeJournalNotPruned", ["fieldmerge_journal_oldest_entry_seconds": "36000000+0"]),
        ("FieldMergeJournalShare", [#"fieldmerge_journal_client_bytes{who="van-3"}"#: "1000000000+0"]),
        ("FieldMergeCertificate", ["fieldmerge_certificate_end_timestamp_seconds": "1000000+0"]),
        ("FieldMergeMemory", [#"process_resident_memory_bytes{job="fieldmerge"}"#: "2000000000+0"]),
    ]

    /// Returns a test of `promtool`: after five hours exactly this alert fires.
    private static func test(_ alert: String?, _ figures: [String: String]) -> String {
        let series = healthy.merging(figures) { $1 }.sorted { $0.key < $1.key }.map { name, value in
            let labelled =
                name.contains("instance=")
                ? name
                : name.hasSuffix("}") ? name.dropLast() + #",instance="a"}"# : name + #"{instance="a"}"#
            return "      - {series: '\(labelled)', values: '\(value)x400'}\n"
        }
        let samples = alert.map { #"[{labels: '{alertname="\#($0)"}', value: 1}]"# } ?? "[]"
        return "  - interval: 1m\n    name: \(alert ?? "healthy")\n    input_series:\n" + series.joined()
            + "    promql_expr_test:\n      - expr: count by (alertname) (ALERTS{alertstate=\"firing\"})\n"
            + "        eval_time: 5h\n        exp_samples: \(samples)\n"
    }

    @Test("Each alert fires for its fault alone, and none for a healthy gateway")
    func alerts() async throws {
        let text = try Repository.text("Samples/operations/alerts.yaml")
        let names = Set(text.matches(of: /- alert: (\w+)/).map { String($0.output.1) })
        #expect(names == Set(Self.faults.map(\.alert)))
        let tests = [Self.test(nil, [:])] + Self.faults.map(Self.test)
        let folder = try TemporaryFolder(files: [
            "alerts.yaml": text, "tests.yaml": "rule_files: [alerts.yaml]\ntests:\n" + tests.joined(),
        ])
        let ran = try await Shell.capture(["promtool", "test", "rules", folder.path + "/tests.yaml"])
        #expect(ran.status == 0, "\(ran)")
    }

    @Test("Prometheus can read each query of the dashboard")
    func dashboard() async throws {
        let queries = try Repository.text("Samples/operations/grafana.json").matches(of: /"expr": ("(?:[^"\\]|\\.)*")/)
            .map { String($0.output.1) }
        #expect(queries.count > 20)
        let rules = queries.enumerated().map { #"{"record": "query:\#($0)", "expr": \#($1)}"# }
        let folder = try TemporaryFolder(files: [
            "rules.yaml": #"{"groups": [{"name": "dashboard", "rules": [\#(rules.joined(separator: ","))]}]}"#
        ])
        let ran = try await Shell.capture(["promtool", "check", "rules", folder.path + "/rules.yaml"])
        #expect(ran.status == 0 && ran.output.contains("\(queries.count) rules found"), "\(ran)")
    }

    @Test("Prometheus accepts the scrape configuration")
    func scraping() async throws {
        let text = try Repository.text("Samples/operations/prometheus.yaml")
        let folder = try TemporaryFolder(files: [
            "alerts.yaml": try Repository.text("Samples/operations/alerts.yaml"), "token": "x",
        ])
        try text.replacing("/etc/prometheus/fieldmerge-token", with: folder.path + "/token").write(
            toFile: folder.path + "/prometheus.yaml", atomically: true, encoding: .utf8)
        let ran = try await Shell.capture(["promtool", "check", "config", folder.path + "/prometheus.yaml"])
        #expect(ran.status == 0 && ran.output.contains("\(Set(Self.faults.map(\.alert)).count) rules found"), "\(ran)")
    }
}

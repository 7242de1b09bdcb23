import MergeService

/// A page in the text format of Prometheus.
struct MetricsPage {
    private(set) var text = ""

    mutating func begin(_ name: String, type: String, help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func add(_ name: String, labels: [(String, String)], value: some CustomStringConvertible) {
        let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1))\"" }.joined(separator: ",")
        text += name + (list.isEmpty ? "" : "{\(list)}") + " \(value)\n"
    }

    /// Names of tokens may contain any visible character.
    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    mutating func add(_ histogram: Histogram, as name: String, labels: [(String, String)]) {
        var total = 0
        for (bound, count) in zip(Histogram.bounds, histogram.counts) {
            total += count
            add(name + "_bucket", labels: labels + [("le", "\(bound)")], value: total)
        }
        add(name + "_bucket", labels: labels + [("le", "+Inf")], value: histogram.count)
        add(name + "_sum", labels: labels, value: histogram.sum)
        add(name + "_count", labels: labels, value: histogram.count)
    }

    mutating func add(_ sizes: BatchSizes, as name: String, labels: [(String, String)]) {
        var total = 0
        for (bound, count) in zip(BatchSizes.bounds, sizes.counts) {
            total += count
            add(name + "_bucket", labels: labels + [("le", "\(bound)")], value: total)
        }
        add(name + "_bucket", labels: labels + [("le", "+Inf")], value: sizes.count)
        add(name + "_sum", labels: labels, value: sizes.sum)
        add(name + "_count", labels: labels, value: sizes.count)
    }
}

/// The files of the operators' console, which the gateway serves under `/console/`.
package enum ConsoleFiles {
    /// The files by their names.
    package static let all: [(name: String, bytes: [UInt8])] = [
        ("api.js", PackageResources.api_js),
        ("chart.js", PackageResources.chart_js),
        ("conflicts.js", PackageResources.conflicts_js),
        ("console.css", PackageResources.console_css),
        ("devices.js", PackageResources.devices_js),
        ("diff.js", PackageResources.diff_js),
        ("dom.js", PackageResources.dom_js),
        ("explain.js", PackageResources.explain_js),
        ("health.js", PackageResources.health_js),
        ("index.html", PackageResources.index_html),
        ("json.js", PackageResources.json_js),
        ("main.js", PackageResources.main_js),
        ("model.js", PackageResources.model_js),
        ("overview.js", PackageResources.overview_js),
        ("record.js", PackageResources.record_js),
        ("refused.js", PackageResources.refused_js),
        ("rules.js", PackageResources.rules_js),
        ("values.js", PackageResources.values_js),
    ]
}

import MergeCore

/// The settings in the environment: `FIELDMERGE_` and the name of an option in capitals.
struct EnvironmentSettings {
    private(set) var values: [Setting: String] = [:]
    /// A sentence for each empty or possibly misspelled setting.
    private(set) var errors: [String] = []
    /// A sentence for each variable that resembles no setting.
    private(set) var warnings: [String] = []

    init(_ environment: [String: String]) {
        for (name, value) in environment.sorted(by: { $0.key < $1.key })
        where name.uppercased().hasPrefix(Setting.prefix) {
            if let setting = Setting.allCases.first(where: { $0.variable == name }) {
                values[setting] = value
                if value.isEmpty { errors.append("\(name) is empty; give it a value, or unset it") }
            } else if let near = Self.near(name) {
                errors.append("\(name) is not a setting; did you mean \(near.variable)?")
            } else {
                warnings.append("\(name) in the environment is not a setting, and is ignored")
            }
        }
    }

    /// Returns the setting that a name resembles, compared without the common prefix.
    ///
    /// A name that extends a setting's name, such as `TOKENS_FILE`, resembles it at any length.
    private static func near(_ name: String) -> Setting? {
        let word = String(name.dropFirst(Setting.prefix.count))
        let words = Setting.allCases.map(\.word)
        let start = word.split(separator: "_").first.map(String.init) ?? ""
        let found =
            NearestName.suggestion(for: word, among: words)
            ?? NearestName.suggestion(for: start, among: words.filter { !$0.contains("_") })
        return Setting.allCases.first { $0.word == found }
    }
}

import FoundationEssentials
import RuleFiles
import SystemPackage

/// Settings from the command line, the environment (`FIELDMERGE_…`) and a file, in this order of precedence.
struct Settings {
    private let environment: EnvironmentSettings
    private let file: SettingsFile?

    /// Reads environment and file.
    ///
    /// - Parameters:
    ///   - file: a YAML or JSON file whose keys are the option names; nil for that of `FIELDMERGE_CONFIG`.
    ///   - warn: receives a warning for each variable that resembles no setting.
    init(
        file: String?, environment: [String: String] = ProcessInfo.processInfo.environment,
        warn: (String) throws -> Void = Self.note
    ) throws {
        self.environment = EnvironmentSettings(environment)
        let path = file ?? self.environment.values[.config].flatMap { $0.isEmpty ? nil : $0 }
        self.file = path.map {
            SettingsFile(
                path: $0, names: Setting.ofFile.map(\.rawValue), lists: Set(Setting.lists.map(\.rawValue)))
        }
        let errors = self.environment.errors + (self.file?.findings.sorted.map(\.description) ?? [])
        guard errors.isEmpty else {
            throw SettingsError((["the settings cannot be used:"] + errors).joined(separator: "\n"))
        }
        for warning in self.environment.warnings { try warn(warning) }
    }

    static func note(_ warning: String) throws {
        try FileDescriptor.standardError.writeAll(Array("warning: \(warning)\n".utf8))
    }

    /// Returns the value of a setting; nil if it is not set.
    func text(_ option: String?, _ setting: Setting) -> String? {
        option ?? environment.values[setting] ?? file?.values[setting.rawValue]?.first
    }

    /// Returns the value that the settings file has, whatever overrides it.
    func ofFile(_ setting: Setting) -> String? { file?.values[setting.rawValue]?.first }

    /// Returns true if a setting's value comes from the settings file.
    func isOfFile(_ option: String?, _ setting: Setting) -> Bool {
        option == nil && environment.values[setting] == nil && ofFile(setting) != nil
    }

    /// Returns the values of a list setting, which the environment separates with commas.
    func list(_ options: [String], _ setting: Setting) -> [String] {
        if !options.isEmpty { return options }
        if let text = environment.values[setting] {
            return text.split(separator: ",", omittingEmptySubsequences: false).map(Self.trimmed)
        }
        return file?.values[setting.rawValue] ?? []
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }

    func required(_ option: String?, _ setting: Setting) throws -> String {
        guard let text = text(option, setting) else {
            let name = setting.rawValue
            throw SettingsError(
                "--\(name) is missing; give it, set \(setting.variable) or write “\(name)” into the settings file")
        }
        return text
    }

    /// Returns a whole number within a range.
    /// - Throws: `SettingsError` for another value.
    func number(_ option: Int?, _ setting: Setting, default standard: Int, in range: ClosedRange<Int>) throws -> Int {
        let wrong = SettingsError(
            "--\(setting.rawValue) is a whole number of \(range.lowerBound) to \(range.upperBound)")
        guard option == nil else {
            guard let option, range.contains(option) else { throw wrong }
            return option
        }
        guard let text = text(nil, setting) else { return standard }
        guard let number = Int(text), range.contains(number) else { throw wrong }
        return number
    }

    func flag(_ option: Bool, _ setting: Setting) throws -> Bool {
        if option { return true }
        switch text(nil, setting) {
        case nil, "false": return false
        case "true": return true
        case let other?: throw SettingsError("--\(setting.rawValue) is true or false, not “\(other)”")
        }
    }

    /// Replaces a default value if the setting is set.
    ///
    /// - Throws: `SettingsError` if the setting is not a whole number within the range.
    func set(_ value: inout Int, to option: Int?, _ setting: Setting, in range: ClosedRange<Int>) throws {
        value = try number(option, setting, default: value, in: range)
    }
}

import Configuration
import FoundationEssentials
import SystemPackage

/// Settings from the command line, the environment (`FIELDMERGE_…`) and a file, the first that has one deciding.
struct Settings {
    private let reader: ConfigReader

    /// - Parameter file: a YAML or JSON file whose keys are the names of the options; nil asks `FIELDMERGE_CONFIG`.
    /// - Throws: `SettingsError` where the file cannot be read.
    init(file: String?) async throws {
        let environment = EnvironmentVariablesProvider()
        let own = environment.prefixKeys(with: "fieldmerge")
        guard let path = file ?? ConfigReader(provider: own).string(forKey: "config") else {
            reader = ConfigReader(provider: own)
            return
        }
        do {
            let provider = try await FileProvider<YAMLSnapshot>(filePath: FilePath(path))
            reader = ConfigReader(providers: [own, provider])
        } catch {
            throw SettingsError("\(path): the settings cannot be read: the file is missing or no YAML or JSON")
        }
    }

    func text(_ option: String?, _ name: String) -> String? {
        option ?? reader.string(forKey: ConfigKey([name])).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Throws: `SettingsError` where the setting is missing.
    func required(_ option: String?, _ name: String) throws -> String {
        guard let text = text(option, name) else {
            let variable = "FIELDMERGE_" + name.uppercased().replacing("-", with: "_")
            throw SettingsError(
                "--\(name) is missing; give it, set \(variable) or write “\(name)” into the settings file")
        }
        return text
    }

    /// A whole number within a range.
    /// - Throws: `SettingsError` where the setting is something else.
    func number(_ option: Int?, _ name: String, default standard: Int, in range: ClosedRange<Int>) throws -> Int {
        let wrong = SettingsError("--\(name) is a whole number of \(range.lowerBound) to \(range.upperBound)")
        guard option == nil else {
            guard let option, range.contains(option) else { throw wrong }
            return option
        }
        guard let text = text(nil, name) else { return standard }
        guard let number = Int(text), range.contains(number) else { throw wrong }
        return number
    }
}

/// A setting that cannot be used.
struct SettingsError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

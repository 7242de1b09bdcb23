import ArgumentParser

struct RetentionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Days for which answers of idempotency keys are kept. (default: 30d)", valueName: "days"))
    var keepKeys: String?

    @Option(help: ArgumentHelp("Days for which journal entries are kept. (default: 400d)", valueName: "days"))
    var keepJournal: String?

    @Option(
        help: ArgumentHelp(
            "Days for which changes are kept; after a longer absence a client loads a snapshot. (default: 30d)",
            valueName: "days"))
    var keepChanges: String?

    func days(_ settings: Settings) throws -> (keys: Int, entries: Int, changes: Int) {
        let keys = try Self.days(settings.text(keepKeys, .keepKeys) ?? "30d", .keepKeys)
        let entries = try Self.days(settings.text(keepJournal, .keepJournal) ?? "400d", .keepJournal)
        guard keys <= entries else {
            throw SettingsError("--keep-keys is longer than --keep-journal, which contains the keys")
        }
        return (keys, entries, try Self.days(settings.text(keepChanges, .keepChanges) ?? "30d", .keepChanges))
    }

    private static func days(_ text: String, _ setting: Setting) throws -> Int {
        guard let days = Int(text.hasSuffix("d") ? text.dropLast() : text[...]), (1...36_500).contains(days) else {
            throw SettingsError("--\(setting.rawValue) is a number of days such as 400d, not “\(text)”")
        }
        return days
    }
}

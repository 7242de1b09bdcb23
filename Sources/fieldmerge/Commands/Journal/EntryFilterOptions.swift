import ArgumentParser

/// The filters that `journal list` and `journal refused` have in common.
struct EntryFilterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Folder of the rule files (*.yaml), which --id and --field need.", valueName: "dir"))
    var rules: String?

    @Option(help: ArgumentHelp("Only entries of this resource.", valueName: "name"))
    var resource: String?

    @Option(help: ArgumentHelp("Only entries of this record, its key as in a URL; needs --resource.", valueName: "key"))
    var id: String?

    @Option(help: ArgumentHelp("Only pushes of this token.", valueName: "token"))
    var who: String?

    @Option(help: ArgumentHelp("Only pushes of this device.", valueName: "device"))
    var device: String?

    @Option(
        help: ArgumentHelp("Only entries since this time: 2026-11-20 or 2026-11-20T10:00:00Z.", valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Only entries before this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("The maximum number of entries, 1 to 1000. (default: 100)", valueName: "n"))
    var limit: String?

    /// The parameters of `GET /v1/journal`.
    var parameters: [String: String?] {
        [
            "resource": resource, "id": id, "who": who, "device": device, "since": since, "until": until,
            "limit": limit,
        ]
    }
}

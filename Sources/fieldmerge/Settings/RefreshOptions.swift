import ArgumentParser
import Gateway
import Logging

struct RefreshOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File of the key that signs access tokens. (default: made in a journal file's folder)", valueName: "file"))
    var tokenKey: String?

    @Option(help: ArgumentHelp("Seconds that an access token is valid. (default: 900)", valueName: "seconds"))
    var tokenLifetime: Int?

    /// Returns the issuer of access tokens; nil without a tokens file.
    ///
    /// - Parameter journalFile: the file of the journal; nil if it has none.
    /// - Throws: `SettingsError` if an option cannot be used.
    func tokens(
        _ settings: Settings, file: KnownTokens?, journalFile: String?, logger: Logger
    ) async throws -> AccessTokens? {
        let key = settings.text(tokenKey, .tokenKey)
        let lifetime = try settings.number(tokenLifetime, .tokenLifetime, default: 900, in: 10...86_400)
        guard let file else {
            guard key == nil else { throw SettingsError("--token-key has no effect without --tokens") }
            return nil
        }
        do {
            if key == nil, journalFile == nil, file.hasRefresh {
                logger.notice("access tokens last until the gateway stops; --token-key FILE has them last longer")
            }
            let place = key.map { .file($0) } ?? journalFile.map { .own($0 + ".token-key") } ?? TokenKeyPlace.process
            return try await AccessTokens(keys: place, file: file, lifetime: lifetime)
        } catch {
            throw SettingsError("--token-key: \(error)")
        }
    }
}

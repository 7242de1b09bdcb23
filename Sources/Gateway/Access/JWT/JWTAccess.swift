import FoundationEssentials
package import Logging
import ServiceLifecycle
import UnixSignals

/// The settings for the verification of JWTs.
package struct JWTSettings: Sendable {
    /// The file or address of the public keys; nil if only the secret is used.
    package var keys: String?
    /// The required `iss` of a token.
    package var issuer: String
    /// The `aud` that a token must contain.
    package var audience: String
    /// A file with a secret of at least 32 bytes; nil if only public keys are used.
    package var secretFile: String?
    /// The name of the claim that contains the roles.
    package var roles = "roles"

    /// Makes settings without keys.
    package init(issuer: String, audience: String) {
        self.issuer = issuer
        self.audience = audience
    }
}

/// Verifies JWTs, and keeps their keys up to date while it runs.
package struct JWTAccess: Service {
    let verifier: JWTVerifier
    private let ring: KeyRing?
    /// nil if only public keys are used.
    let secret: SharedSecret?
    /// The time between two reads of the keys.
    private let interval: Duration

    /// Reads the secret and the key file.
    ///
    /// `run` fetches an address.
    package init(_ settings: JWTSettings, logger: Logger) async throws(KeySetError) {
        try await self.init(settings, logger: logger, pause: .seconds(30)) { Date().timeIntervalSince1970 }
    }

    init(
        _ settings: JWTSettings, logger: Logger, pause: Duration, interval: Duration? = nil,
        now: @escaping JWTVerifier.Clock
    ) async throws(KeySetError) {
        let verified = VerifiedTokens<Bearer>()
        var ring: KeyRing?
        var isFile = false
        if let place = settings.keys {
            let source = try KeySource(place)
            let made = KeyRing(source, logger: logger, pause: pause) { verified.forget() }
            if case .file = source {
                isFile = true
                await made.ask(atOnce: true)
                if let trouble = made.trouble { throw KeySetError(trouble) }
            }
            ring = made
        }
        if let path = settings.secretFile {
            secret = try await SharedSecret(path, logger: logger) { verified.forget() }
        } else {
            secret = nil
        }
        verifier = JWTVerifier(
            claims: JWTClaims(issuer: settings.issuer, audience: settings.audience, rolesClaim: settings.roles),
            ring: ring, secret: secret, verified: verified, now: now)
        self.ring = ring
        self.interval = interval ?? (isFile ? .seconds(2) : .seconds(300))
    }

    /// Keeps the keys up to date until the service is shut down.
    ///
    /// It reads the keys at start and in intervals: a file every two seconds, an address every five minutes. On SIGHUP it
    /// reads keys and secret.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            if let ring { group.addTask { await keepUp(ring) } }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
                    await ring?.ask(atOnce: true)
                    await secret?.reload()
                }
            }
            await group.waitForAll()
        }
    }

    private func keepUp(_ ring: KeyRing) async {
        await ring.ask(atOnce: true)
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: interval) }
            await ring.ask(atOnce: true)
        }
    }
}

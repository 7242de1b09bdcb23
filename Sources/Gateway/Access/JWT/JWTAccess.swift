import FoundationEssentials
package import Logging
import ServiceLifecycle
import UnixSignals

/// The settings by which JWTs are verified.
package struct JWTSettings: Sendable {
    /// A file, or an address; nil where only the secret counts.
    package var keys: String?
    /// The `iss` that a token has to have.
    package var issuer: String
    /// The `aud` that a token has to have among its own.
    package var audience: String
    /// A file of 32 bytes or more; nil where only keys count.
    package var secretFile: String?
    /// The name of the claim that holds the roles.
    package var roles = "roles"

    /// Makes settings without keys.
    package init(issuer: String, audience: String) {
        self.issuer = issuer
        self.audience = audience
    }
}

/// Verifies JWTs, and keeps their keys up to date for as long as it runs.
package struct JWTAccess: Service {
    let verifier: JWTVerifier
    private let ring: KeyRing?
    /// nil where only keys count.
    let secret: SharedSecret?
    private let isFile: Bool
    private let look: Duration

    /// Reads the secret, and the keys of a file; an address is asked once the service runs.
    ///
    /// - Throws: `KeySetError` where a file or an address cannot be used.
    package init(_ settings: JWTSettings, logger: Logger) async throws(KeySetError) {
        try await self.init(settings, logger: logger, pause: .seconds(30)) { Date().timeIntervalSince1970 }
    }

    init(
        _ settings: JWTSettings, logger: Logger, pause: Duration, now: @escaping JWTVerifier.Clock
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
        self.isFile = isFile
        look = .seconds(2)
    }

    /// Asks for the keys at once, looks at a file of them every two seconds, and reads keys and secret again on SIGHUP, until
    /// the service is shut down.
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
        while isFile, !Task.isShuttingDownGracefully, !Task.isCancelled {
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: look) }
            await ring.ask(atOnce: true)
        }
    }
}

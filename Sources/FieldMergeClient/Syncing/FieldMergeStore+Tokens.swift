extension FieldMergeStore {
    /// Returns the token at hand, or asks the app for one.
    ///
    /// - Throws: `ConnectionLost` where the app has none now.
    func token() async throws -> (token: String, generation: Int) {
        if let token = tokens.token { return (token, tokens.generation) }
        return try await asked()
    }

    /// Asks the app for another token, unless somebody has done so since.
    func renewToken(refused: Int) async throws {
        if tokens.generation == refused {
            tokens.token = nil
            _ = try await asked()
        }
    }

    private func asked() async throws -> (token: String, generation: Int) {
        let asking: Task<String, any Error>
        if let underWay = tokens.asking {
            asking = underWay
        } else {
            let ask = tokens.ask
            asking = Task { try await ask() }
            tokens.asking = asking
        }
        do {
            let token = try await asking.value
            if tokens.asking == asking {
                tokens.asking = nil
                tokens.token = token
                tokens.generation += 1
            }
            return (token, tokens.generation)
        } catch {
            if tokens.asking == asking { tokens.asking = nil }
            throw ConnectionLost(reason: "the token could not be asked for: \(error)")
        }
    }

    /// Takes another way to ask for a token, such as after `needsAuth`.
    public func setToken(_ token: @escaping @Sendable () async throws -> String) {
        tokens.ask = token
        tokens.token = nil
        tokens.generation += 1
        tell(.token)
    }
}

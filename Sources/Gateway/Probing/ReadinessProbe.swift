/// Sends one `GET /readyz` to a gateway on this machine, limited in time and bytes.
///
/// It does not verify the certificate, which contains the public host instead of the loopback address. The request
/// contains no secret.
package struct ReadinessProbe: Sendable {
    private let request: GatewayRequest

    /// The answer of the gateway.
    package struct Answer: Sendable {
        /// True if the gateway serves requests.
        package let isReady: Bool
        /// The body of the answer.
        package let body: [UInt8]
    }

    /// - Parameter host: the configured address. A wildcard address is replaced by loopback.
    package init(host: String, port: Int, isEncrypted: Bool) {
        let local =
            switch host {
            case "0.0.0.0", "": "127.0.0.1"
            case "::": "::1"
            default: host
            }
        request = GatewayRequest(
            "/readyz", host: local, port: port, encryption: isEncrypted ? .unverified : .none, authority: "localhost",
            mostBytes: 1_048_576)
    }

    /// Returns the answer.
    ///
    /// - Throws: `GatewayRequest.Silence` if no answer comes in time.
    package func ask(within seconds: Int64) async throws(GatewayRequest.Silence) -> Answer {
        let answer = try await request.answer(within: seconds)
        return Answer(isReady: answer.status == 200, body: answer.body)
    }
}

import TestSupport

/// Makes requests with every method to every address, with members of the query that are unknown, and with each token.
struct AddressForms {
    let resource: ResourceShape
    /// A record's id in the form of a URL.
    let id: String

    private struct Address {
        let path: String
        var body: String?
        /// Its answer to GET is the same in every run.
        var isRecorded = true
    }

    private var addresses: [Address] {
        [
            Address(path: "/v1/rules"), Address(path: "/v1/records/\(resource.name)"),
            Address(path: "/v1/records/\(resource.name)/\(id)"), Address(path: "/v1/journal"),
            Address(path: "/v1/journal/900001"), Address(path: "/v1/journal/900001/undo", body: "{}"),
            Address(path: "/v1/push", body: #"{"edits":[]}"#),
            Address(path: "/v1/merge/\(resource.name)", body: #"{"id":1,"changeset":{}}"#), Address(path: "/healthz"),
            Address(path: "/readyz", isRecorded: false), Address(path: "/metrics", isRecorded: false),
            Address(path: "/openapi.json", isRecorded: false), Address(path: "/v1/records/\(resource.name)/"),
            Address(path: "/v1//rules"), Address(path: "/V1/rules"), Address(path: "/v1/records/%2e%2e/\(id)"),
        ]
    }

    var methods: [CorpusRequest] { addresses.flatMap(methods) }

    var tokens: [CorpusRequest] { addresses.flatMap(tokens) }

    private func methods(_ address: Address) -> [CorpusRequest] {
        var requests: [CorpusRequest] = []
        for method in HTTPClient.Method.allCases where address.isRecorded || method != .get {
            for query in ["", "?nobody=1"] {
                let hasBody = [.post, .put, .patch].contains(method)
                requests.append(
                    CorpusRequest(
                        "address: \(method)", method, address.path + query, hasBody ? address.body ?? "{}" : nil))
            }
        }
        return requests
    }

    private func tokens(_ address: Address) -> [CorpusRequest] {
        let headers: [String?] = [
            nil, "Bearer " + CorpusGateway.office, "Bearer " + CorpusGateway.clerk, "Bearer " + CorpusGateway.reader,
            "Bearer nobody", "Bearer", "Basic b2ZmaWNlOng=", "bearer " + CorpusGateway.office,
        ]
        return headers.map { header in
            let method: HTTPClient.Method = address.body != nil ? .post : address.isRecorded ? .get : .head
            var request = CorpusRequest("address with a token", method, address.path, address.body)
            if let header { request.headers = [("Authorization", header)] }
            return request
        }
    }
}

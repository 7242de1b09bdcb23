/// The OpenAPI 3.1 description of all addresses, from `openapi.json`.
///
/// `/v1/rules` describes the fields of resources.
enum OpenAPI {
    /// The description as JSON.
    static let document: [UInt8] = PackageResources.openapi_json
}

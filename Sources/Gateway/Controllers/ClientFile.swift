import MergeWire

/// A file of the JavaScript client library or of the console, as the gateway serves it.
struct ClientFile {
    let bytes: [UInt8]
    let type: String
    let tag: String
    /// True if the address contains the content, so that the file never changes.
    let isImmutable: Bool

    init(_ bytes: [UInt8], type: String, isImmutable: Bool = false) {
        self.bytes = bytes
        self.type = type
        tag = EntityTag.of(bytes)
        self.isImmutable = isImmutable
    }

    /// Makes a file of the client library.
    init(_ bytes: [UInt8], name: String, isImmutable: Bool = false) {
        let type =
            switch name {
            case let name where name.hasSuffix(".js"): "text/javascript; charset=utf-8"
            case let name where name.hasSuffix(".json"): "application/importmap+json"
            default: "text/plain; charset=utf-8"
            }
        self.init(bytes, type: type, isImmutable: isImmutable)
    }

    /// Modules import each other in the same version, so browsers must revalidate a file whose address has no version.
    var caching: String { isImmutable ? "public, max-age=31536000, immutable" : "public, no-cache" }
}

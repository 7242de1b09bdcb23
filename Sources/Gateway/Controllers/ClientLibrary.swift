internal import Crypto
import MergeCore
import MergeWire

/// The JavaScript client library in one version, under an address that contains a digest of all its files.
///
/// A page that has begun with a version loads later modules from the same address. The entries at fixed addresses name the
/// version, and let a page load all modules soon, so that it needs none of a gateway that was updated since.
struct ClientLibrary {
    /// The digest of the names and contents of all files.
    let digest: String
    /// The files under the digest.
    let modules: [String: ClientFile]
    /// The files at fixed addresses.
    let entries: [String: ClientFile]

    private static let library = "fieldmerge.js"
    /// A service worker cannot load modules later, so this one imports all of them.
    private static let worker = "fieldmerge-worker.js"

    init(modules: [(name: String, bytes: [UInt8])], declarations: (name: String, bytes: [UInt8])) {
        let files = modules + [declarations]
        var hash = SHA256()
        for (name, bytes) in files.sorted(by: { $0.name < $1.name }) {
            hash.update(data: Array("\(name):\(bytes.count):".utf8))
            hash.update(data: bytes)
        }
        let digest = Hex.encode(Array(hash.finalize().prefix(16)))
        self.digest = digest
        self.modules = Dictionary(
            uniqueKeysWithValues: files.map { ($0.name, ClientFile($0.bytes, name: $0.name, isImmutable: true)) })
        let later = modules.map(\.name).filter { $0 != Self.library && $0 != Self.worker }
        let texts = [
            Self.library: Self.entry(digest, later: later),
            Self.worker: "export * from \"./\(digest)/\(Self.worker)\";\n",
            "importmap.json": Self.importMap(digest),
        ]
        var entries = texts.reduce(into: [:]) { entries, text in
            entries[text.key] = ClientFile(Array(text.value.utf8), name: text.key)
        }
        entries[declarations.name] = ClientFile(declarations.bytes, name: declarations.name)
        self.entries = entries
    }

    private static func entry(_ digest: String, later: [String]) -> String {
        """
        // The library in one version. The page loads all its modules soon, so an update of the gateway does not concern it.
        export * from "./\(digest)/\(library)";

        const names = [\(later.map { "\"\($0)\"" }.joined(separator: ", "))];
        const preload = () => {
          for (const name of names) {
            const link = document.createElement("link");
            link.rel = "modulepreload";
            link.href = new URL(`./\(digest)/${name}`, import.meta.url).href;
            document.head.append(link);
          }
        };
        if (globalThis.document) (globalThis.requestIdleCallback ?? setTimeout)(preload);

        """
    }

    private static func importMap(_ digest: String) -> String {
        """
        {
          "imports": {
            "fieldmerge": "/client/v1/\(digest)/\(library)",
            "fieldmerge/worker": "/client/v1/\(digest)/\(worker)"
          }
        }

        """
    }
}

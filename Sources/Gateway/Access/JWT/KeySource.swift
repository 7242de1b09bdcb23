import FoundationEssentials

enum KeySource: Sendable, CustomStringConvertible {
    case file(String)
    case address(KeyAddress)

    /// - Throws: `KeySetError` for an unusable address.
    init(_ text: String) throws(KeySetError) {
        guard text.contains("://") else {
            self = .file(text)
            return
        }
        do {
            self = .address(try KeyAddress(text))
        } catch {
            throw KeySetError("\(text): \(error)")
        }
    }

    var description: String {
        switch self {
        case .file(let path): path
        case .address(let address): address.description
        }
    }

    /// Reads the current key set.
    func read() async throws(KeySetError) -> [UInt8] {
        switch self {
        case .file(let path):
            guard let data = try? Data(contentsOf: URL(filePath: path)) else {
                throw KeySetError("the file cannot be read")
            }
            guard data.count <= KeyFetch.mostBytes else {
                throw KeySetError("the file has more than \(KeyFetch.mostBytes) bytes")
            }
            return Array(data)
        case .address(let address): return try await KeyFetch.body(at: address)
        }
    }
}

internal import Crypto
import MergeCore

/// The digest that distinguishes a repeated push from another push with the same key.
///
/// It covers the address and the meaning of the body. Member order does not count, and numbers are compared by value.
/// It omits the key, which may be in the body or in a header.
enum RequestFingerprint {
    static func digest(_ root: JSONNode, address: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(960)
        bytes.append(contentsOf: address.utf8)
        bytes.append(0)
        write(root, &bytes, leavingOut: "key")
        var hash = SHA256()
        hash.update(data: bytes)
        return Self.bytes(of: hash)
    }

    private typealias Member = (name: UnsafeBufferPointer<UInt8>, value: JSONNode)

    private static func write(_ node: JSONNode, _ bytes: inout [UInt8], leavingOut name: StaticString? = nil) {
        if node.isArray {
            bytes.append(UInt8(ascii: "["))
            node.forEachElement { element in
                write(element, &bytes)
                bytes.append(UInt8(ascii: ","))
            }
            bytes.append(UInt8(ascii: "]"))
        } else if node.isObject {
            bytes.append(UInt8(ascii: "{"))
            sorted(node) { members in
                for member in members {
                    if let name, name.utf8CodeUnitCount == member.name.count,
                        member.name.elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: member.name.count))
                    {
                        continue
                    }
                    JSONQuoting.append(member.name, to: &bytes)
                    bytes.append(UInt8(ascii: ":"))
                    write(member.value, &bytes)
                    bytes.append(UInt8(ascii: ","))
                }
            }
            bytes.append(UInt8(ascii: "}"))
        } else if let text = node.utf8 {
            JSONQuoting.append(text, to: &bytes)
        } else {
            write(node.scalar, &bytes)
        }
    }

    /// Sorts the members by name in stack memory, because most objects have few.
    private static func sorted(_ node: JSONNode, _ body: (UnsafeMutableBufferPointer<Member>) -> Void) {
        withUnsafeTemporaryAllocation(of: Member.self, capacity: node.count) { members in
            var count = 0
            node.forEachMember { name, value in
                members.initializeElement(at: count, to: (name, value))
                count += 1
            }
            var found = UnsafeMutableBufferPointer(rebasing: members[..<count])
            if count <= 8 {
                for end in found.indices.dropFirst() {
                    var index = end
                    while index > 0, found[index].name.lexicographicallyPrecedes(found[index - 1].name) {
                        found.swapAt(index, index - 1)
                        index -= 1
                    }
                }
            } else {
                found.sort { $0.name.lexicographicallyPrecedes($1.name) }
            }
            body(found)
            found.deinitialize()
        }
    }

    private static func write(_ scalar: Scalar, _ bytes: inout [UInt8]) {
        switch scalar {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .boolean(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .vast(let number): bytes.append(contentsOf: number.text.utf8)
        case .text, .array, .object: break
        }
    }

    /// Returns the name of a stored answer, which includes the sender, because each sender has its own keys.
    static func name(of key: String, sender: String) -> [UInt8] {
        var (sender, key) = (sender, key)
        var hash = SHA256()
        sender.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        withUnsafeBytes(of: UInt8(0)) { hash.update(bufferPointer: $0) }
        key.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return bytes(of: hash)
    }

    /// Returns the name of a key of the journal itself.
    ///
    /// UTF-8 never contains 0xFF, so no sender's key has this name.
    static func name(ofEffect key: String, _ body: [UInt8]) -> [UInt8] {
        digest(of: [0xFF] + Array(key.utf8) + [0] + body)
    }

    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(data: bytes)
        return self.bytes(of: hash)
    }

    /// Copies the digest once; as a sequence it would be copied several times.
    private static func bytes(of hash: SHA256) -> [UInt8] { hash.finalize().withUnsafeBytes { [UInt8]($0) } }
}

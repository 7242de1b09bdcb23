import Hummingbird

extension Request {
    /// An undecoded segment of the path, or nil.
    ///
    /// - Parameter position: the index of the segment, from 0.
    func rawPath(_ position: Int) -> Substring? {
        guard let path = head.path?.utf8 else { return nil }
        let end = path.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.endIndex
        var rest = path[..<end]
        for _ in 0...position {
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
            rest = rest[rest.index(after: slash)...]
        }
        return Substring(rest.prefix { $0 != UInt8(ascii: "/") })
    }
}

import Hummingbird

extension Request {
    /// A part of the path as it stands in the URL, not decoded; nil where there is none.
    ///
    /// - Parameter position: counted from 0 behind the first slash.
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

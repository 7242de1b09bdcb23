/// `HOST:PORT`, with an IPv6 address in brackets.
struct ListenAddress {
    let host: String
    let port: Int

    init(_ text: String) throws {
        let wrong = SettingsError("--listen is HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, not “\(text)”")
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { throw wrong }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw wrong
        }
        guard !host.isEmpty else { throw wrong }
        self.host = String(host)
        self.port = port
    }
}

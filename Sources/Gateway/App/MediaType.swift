enum MediaType {
    private static let text = [
        "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "js": "text/javascript",
        "md": "text/markdown", "mjs": "text/javascript", "txt": "text/plain", "xml": "text/xml",
    ]
    private static let structured = [
        "geojson": "application/geo+json", "json": "application/json", "map": "application/json",
        "svg": "image/svg+xml", "wasm": "application/wasm", "webmanifest": "application/manifest+json",
    ]
    private static let packed = [
        "avif": "image/avif", "gif": "image/gif", "ico": "image/vnd.microsoft.icon", "jpeg": "image/jpeg",
        "jpg": "image/jpeg", "mp3": "audio/mpeg", "mp4": "video/mp4", "otf": "font/otf", "pdf": "application/pdf",
        "png": "image/png", "ttf": "font/ttf", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2",
    ]

    /// Returns the type by the extension of a file, and true if gzip makes it smaller.
    static func of(_ name: String) -> (type: String, packs: Bool) {
        let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
        if let type = text[ending] { return (type + "; charset=utf-8", true) }
        if let type = structured[ending] { return (type, true) }
        return (packed[ending] ?? "application/octet-stream", false)
    }
}

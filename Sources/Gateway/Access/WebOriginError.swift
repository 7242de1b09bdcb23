/// A text that is no origin of web pages.
package struct WebOriginError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ fault: String) {
        description =
            fault + "; an origin is http:// or https://, a host and perhaps a port, such as https://app.example.com"
    }
}

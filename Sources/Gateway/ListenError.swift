/// An address that cannot be listened on.
package struct ListenError: Error, CustomStringConvertible {
    package let description: String
}

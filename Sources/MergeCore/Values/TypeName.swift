/// The name of a column's type in `GET /v1/rules` and in messages.
package enum TypeName: String, Sendable, Hashable, CaseIterable {
    case boolean
    case integer
    case bit
    case year
    case decimal
    case float
    case double
    case text
    case enumeration = "enum"
    case set
    case date
    case dateTime = "datetime"
    case timestamp
    case time
    case binary
    case uuid
    case inet4
    case inet6
    case geometry
    case json
}

import Operations

/// The OpenAPI 3.1 description, assembled from its themes.
///
/// `/v1/rules` describes the fields of resources.
enum OpenAPI {
    /// Related addresses with their components.
    ///
    /// Each text contains the members of a JSON object, without its braces.
    struct Theme {
        var paths = ""
        var parameters = ""
        var headers = ""
        var responses = ""
        var schemas = ""
    }

    private static let themes = [
        rules, records, changes, sync, pushes, results, journal, clients, operations, common,
    ]

    static let document = #"""
        {
        "openapi": "3.1.0",
        "info": {
          "title": "FieldMerge", "version": "\#(ProgramVersion.text)",
          "description": "Reads records of a legacy database and merges edits into it, group by group. HEAD is served wherever GET is. Another method is 405 with Allow; a query member that is not named here, or stands twice, is 400."
        },
        "security": [{"bearer": []}],
        "paths": \#(object(\.paths)),
        "components": {
        "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        "parameters": \#(object(\.parameters)),
        "headers": \#(object(\.headers)),
        "responses": \#(object(\.responses)),
        "schemas": \#(object(\.schemas))
        }
        }
        """#

    private static func object(_ members: (Theme) -> String) -> String {
        "{\n" + themes.map(members).filter { !$0.isEmpty }.joined(separator: ",\n") + "\n}"
    }
}

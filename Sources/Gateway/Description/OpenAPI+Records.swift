extension OpenAPI {
    /// Reads of records.
    static let records = Theme(
        paths: #"""
            "/v1/records/{resource}": {
              "parameters": [{"$ref": "#/components/parameters/resource"}],
              "get": {
                "operationId": "listRecords", "summary": "A page of records in key order.",
                "parameters": [
                  {"name": "limit", "in": "query", "schema": {"type": "integer"}, "description": "How many; cut to the allowed range."},
                  {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "The `next` of the page before."}
                ],
                "responses": {
                  "200": {"description": "A page.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Page"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/v1/records/{resource}/{id}": {
              "parameters": [
                {"$ref": "#/components/parameters/resource"},
                {"name": "id", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}, "description": "The key, percent-encoded, a comma between its parts."}
              ],
              "get": {
                "operationId": "getRecord", "summary": "One record.",
                "parameters": [{"name": "If-None-Match", "in": "header", "schema": {"type": "string"}}],
                "responses": {
                  "200": {
                    "description": "The record.", "headers": {"ETag": {"schema": {"type": "string"}}},
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Record"}}}
                  },
                  "304": {"description": "The record is the one that the client has."},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        parameters: #"""
            "resource": {"name": "resource", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}, "description": "The name of a resource, as `/v1/rules` tells it."}
            """#,
        schemas: #"""
            "Record": {
              "type": "object", "required": ["id"], "properties": {"id": {"$ref": "#/components/schemas/Id"}},
              "additionalProperties": {"description": "A section: an object of fields, an array of items, or null.", "type": ["object", "array", "null"]}
            },
            "Page": {
              "type": "object", "additionalProperties": false, "required": ["records", "next"],
              "properties": {
                "records": {"type": "array", "items": {"$ref": "#/components/schemas/Record"}},
                "next": {"type": ["string", "null"]}
              }
            }
            """#)
}

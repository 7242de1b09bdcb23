extension OpenAPI {
    /// Pushes and changes in one request.
    static let sync = Theme(
        paths: #"""
            "/v1/sync": {
              "post": {
                "operationId": "sync", "summary": "Pushes one after the other, then what has changed.",
                "parameters": [{"$ref": "#/components/parameters/device"}, {"$ref": "#/components/parameters/by"}],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Sync"}}}},
                "responses": {
                  "200": {"description": "All was merged.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SyncResult"}}}},
                  "207": {"description": "Something was not merged, or there are no changes to tell.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/SyncResult"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        schemas: #"""
            "Sync": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "feed": {"type": "string"}, "since": {"type": "integer", "minimum": 0},
                "resources": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
                "limit": {"type": "integer", "minimum": 0},
                "filter": {"$ref": "#/components/schemas/Filter"},
                "pushes": {"type": "array", "items": {"type": "object", "description": "As the body of `/v1/push`, with a `key`; one that is malformed fails alone."}}
              }
            },
            "SyncResult": {
              "type": "object", "additionalProperties": false, "required": ["results", "feed", "revision", "more", "rules", "changes"],
              "properties": {
                "results": {"type": "array", "items": {"$ref": "#/components/schemas/SyncedResult"}, "description": "A push's result each, with its HTTP status as `code`."},
                "feed": {"type": ["string", "null"]}, "revision": {"type": ["integer", "null"]}, "more": {"type": "boolean"},
                "rules": {"type": "string"}, "changes": {"type": ["array", "null"], "items": {"$ref": "#/components/schemas/Change"}},
                "problem": {"$ref": "#/components/schemas/Problem"}
              }
            },
            "SyncedResult": {
              "type": "object", "additionalProperties": false, "required": ["key", "status", "code", "results"],
              "properties": {
                "key": {"type": ["string", "null"]}, "status": {"enum": ["merged", "rejected", "failed", "partial"]},
                "code": {"type": "integer"}, "revision": {"type": ["integer", "null"]}, "atomic": {"const": false},
                "results": {"type": "array", "items": {"$ref": "#/components/schemas/Result"}},
                "problem": {"$ref": "#/components/schemas/Problem"}
              }
            }
            """#)
}

extension OpenAPI {
    /// Single edits and pushes.
    static let pushes = Theme(
        paths: #"""
            "/v1/merge/{resource}": {
              "parameters": [{"$ref": "#/components/parameters/resource"}],
              "post": {
                "operationId": "merge", "summary": "Merges the edit of one record.",
                "parameters": [{"$ref": "#/components/parameters/key"}, {"$ref": "#/components/parameters/device"}, {"$ref": "#/components/parameters/preview"}, {"$ref": "#/components/parameters/by"}],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Edit"}}}},
                "responses": {
                  "200": {"$ref": "#/components/responses/Result"}, "409": {"$ref": "#/components/responses/Refusal"},
                  "422": {"$ref": "#/components/responses/Refusal"}, "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/v1/push": {
              "post": {
                "operationId": "push", "summary": "Merges edits of many records in one transaction.",
                "parameters": [{"$ref": "#/components/parameters/key"}, {"$ref": "#/components/parameters/device"}, {"$ref": "#/components/parameters/preview"}, {"$ref": "#/components/parameters/by"}],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Push"}}}},
                "responses": {
                  "200": {"$ref": "#/components/responses/PushResult"}, "207": {"$ref": "#/components/responses/PushResult"},
                  "409": {"$ref": "#/components/responses/PushRefusal"}, "422": {"$ref": "#/components/responses/PushRefusal"},
                  "413": {"$ref": "#/components/responses/PushRefusal"}, "500": {"$ref": "#/components/responses/PushRefusal"},
                  "503": {"$ref": "#/components/responses/PushRefusal"},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        parameters: #"""
            "key": {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "minLength": 1, "maxLength": 255}, "description": "Names the push, which is then merged once however often it is sent."},
            "device": {"name": "X-Device-ID", "in": "header", "schema": {"type": "string", "maxLength": 255}, "description": "The device, for the journal."},
            "preview": {
              "name": "preview", "in": "query", "schema": {"type": "boolean", "default": false},
              "description": "Answers what would happen, and writes nothing."
            },
            "by": {
              "name": "by", "in": "query", "schema": {"type": "boolean", "default": false},
              "description": "A conflict also tells `by`: the last push that wrote the group as it stood."
            }
            """#,
        schemas: #"""
            "Edit": {
              "type": "object", "additionalProperties": false, "required": ["changeset"],
              "properties": {
                "key": {"$ref": "#/components/schemas/Key"}, "rules": {"type": "string"}, "feed": {"type": "string"}, "sent": {"type": "string", "format": "date-time"}, "resource": {"type": "string", "minLength": 1},
                "id": {"$ref": "#/components/schemas/Id"}, "changeset": {"$ref": "#/components/schemas/Changeset"}
              }
            },
            "PushedEdit": {
              "type": "object", "additionalProperties": false, "required": ["resource", "changeset"],
              "properties": {
                "resource": {"type": "string", "minLength": 1}, "id": {"$ref": "#/components/schemas/Id"},
                "changeset": {"$ref": "#/components/schemas/Changeset"}
              }
            },
            "Changeset": {
              "type": "object", "additionalProperties": {"type": ["object", "array"]},
              "description": "A member for each section that changes: groups with `old` and `new`, or in a list an array of items."
            },
            "Push": {
              "type": "object", "required": ["edits"], "additionalProperties": false,
              "properties": {
                "key": {"$ref": "#/components/schemas/Key"}, "rules": {"type": "string"}, "feed": {"type": "string"}, "sent": {"type": "string", "format": "date-time"}, "atomic": {"enum": ["push", "edit"]},
                "edits": {"type": "array", "items": {"$ref": "#/components/schemas/PushedEdit"}}
              }
            }
            """#)
}

extension OpenAPI {
    /// Changes and snapshots.
    static let changes = Theme(
        paths: #"""
            "/v1/changes": {
              "get": {
                "operationId": "getChanges", "summary": "The records that changed after a revision, at once or as events.",
                "parameters": [
                  {"name": "since", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "The revision up to which the client has everything; left out, the answer names the latest."},
                  {"name": "feed", "in": "query", "schema": {"type": "string"}, "description": "The feed of that revision; goes with `since`."},
                  {"$ref": "#/components/parameters/resources"},
                  {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "Changes on a page; cut to the allowed range."},
                  {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "Seconds to wait with nothing to tell; cut to 60. Not with events."},
                  {"$ref": "#/components/parameters/filter"},
                  {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}, "description": "The id of the last event; it counts before the address."}
                ],
                "responses": {
                  "200": {"description": "A page, or events.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Changes"}}, "text/event-stream": {"schema": {"type": "string"}}}},
                  "410": {"$ref": "#/components/responses/Problem"},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/v1/snapshot": {
              "get": {
                "operationId": "getSnapshot", "summary": "Every record, one line of JSON each, and the revision from which changes go on.",
                "parameters": [
                  {"$ref": "#/components/parameters/resources"},
                  {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "The last cursor of a download that broke."},
                  {"$ref": "#/components/parameters/filter"},
                  {"name": "unless", "in": "query", "schema": {"type": "string"}, "description": "The feed that the client followed under another filter, or `FEED:REVISION`. The snapshot omits the records that the client has, and reports those that do not match `filter` with `record: null`."}
                ],
                "responses": {
                  "200": {"description": "Lines `snapshot`, records, `cursor` and `end`.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}},
                  "410": {"$ref": "#/components/responses/Problem"},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        parameters: #"""
            "resources": {"name": "resources", "in": "query", "schema": {"type": "string", "minLength": 1}, "description": "Names of resources, a comma between them; all if left out."},
            "filter": {"name": "filter", "in": "query", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Filter"}}}, "description": "The records that the client wants; all if left out."}
            """#,
        schemas: #"""
            "Changes": {
              "type": "object", "additionalProperties": false, "required": ["feed", "revision", "more", "rules", "changes"],
              "properties": {
                "feed": {"type": "string"}, "revision": {"type": "integer"}, "more": {"type": "boolean"},
                "rules": {"type": "string"}, "changes": {"type": "array", "items": {"$ref": "#/components/schemas/Change"}}
              }
            },
            "Change": {
              "type": "object", "additionalProperties": false, "required": ["revision", "resource", "id", "record", "by"],
              "properties": {
                "revision": {"type": "integer"}, "resource": {"type": "string"}, "id": {"$ref": "#/components/schemas/Id"},
                "record": {"anyOf": [{"$ref": "#/components/schemas/Record"}, {"type": "null"}], "description": "The record as it is now; null if it is gone, or if it cannot be read and there is a problem."},
                "problem": {"$ref": "#/components/schemas/Problem"},
                "by": {"anyOf": [{"$ref": "#/components/schemas/Author"}, {"type": "null"}], "description": "The push that did it; null for other programs."}
              }
            },
            "Filter": {
              "type": "object", "description": "By resource, the conditions on fields of its root section, all of which hold. Resources without an entry are whole.",
              "additionalProperties": {
                "type": "object", "description": "By `section.field`: a value or null (equal), an array of them (one of them), or a range.",
                "additionalProperties": {
                  "anyOf": [
                    {"type": ["string", "number", "boolean", "null", "array"]},
                    {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
                      "from": {"type": ["string", "number", "boolean"], "description": "At least this value."},
                      "before": {"type": ["string", "number", "boolean"], "description": "Less than this value."}
                    }}
                  ]
                }
              }
            },
            "Author": {
              "type": "object", "additionalProperties": false, "required": ["who", "device", "entry"],
              "properties": {
                "who": {"type": ["string", "null"]}, "device": {"type": ["string", "null"]}, "entry": {"type": ["integer", "null"]},
                "at": {"type": "string", "format": "date-time"}
              }
            }
            """#)
}

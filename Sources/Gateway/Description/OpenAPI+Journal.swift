extension OpenAPI {
    /// The journal.
    static let journal = Theme(
        paths: #"""
            "/v1/journal": {
              "get": {
                "operationId": "listJournal", "summary": "What was merged and what was overwritten, the oldest first.",
                "parameters": [
                  {"name": "resource", "in": "query", "schema": {"type": "string"}},
                  {"name": "id", "in": "query", "schema": {"type": "string"}, "description": "The key of a record of `resource`."},
                  {"name": "who", "in": "query", "schema": {"type": "string"}, "description": "The name of a token."},
                  {"name": "device", "in": "query", "schema": {"type": "string"}, "description": "The device of a push."},
                  {"name": "group", "in": "query", "schema": {"type": "string"}, "description": "A group as `section.group`, or a section."},
                  {"name": "field", "in": "query", "schema": {"type": "string"}, "description": "A field of `resource` as `section.field`: entries of its group."},
                  {"name": "code", "in": "query", "schema": {"type": "string"}, "description": "The code of the problem of a refused push."},
                  {"name": "outcome", "in": "query", "schema": {"type": "string"}, "description": "An outcome that occurs in the entry."},
                  {"name": "since", "in": "query", "schema": {"type": "string"}, "description": "A date, or a date and time with a UTC offset."},
                  {"name": "until", "in": "query", "schema": {"type": "string"}, "description": "Entries before this date or time."},
                  {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "The `next` of the page before."},
                  {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                  {"name": "refused", "in": "query", "schema": {"type": "boolean"}, "description": "Only pushes that were refused."}
                ],
                "responses": {
                  "200": {"description": "A page.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/JournalPage"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/v1/journal/{number}": {
              "parameters": [{"$ref": "#/components/parameters/number"}],
              "get": {
                "operationId": "getEntry", "summary": "One entry, with the whole push where it was refused.",
                "responses": {
                  "200": {"description": "The entry.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Entry"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/v1/journal/{number}/undo": {
              "parameters": [{"$ref": "#/components/parameters/number"}],
              "post": {
                "operationId": "undo", "summary": "Merges the opposite of an entry; what others wrote since stays.",
                "parameters": [{"$ref": "#/components/parameters/device"}, {"$ref": "#/components/parameters/preview"}],
                "requestBody": {"required": false, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Undo"}}}},
                "responses": {
                  "200": {"$ref": "#/components/responses/Result"}, "409": {"$ref": "#/components/responses/Refusal"},
                  "422": {"$ref": "#/components/responses/Refusal"}, "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        parameters: #"""
            "number": {"name": "number", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1}}
            """#,
        schemas: #"""
            "JournalPage": {
              "type": "object", "additionalProperties": false, "required": ["entries", "next"],
              "properties": {
                "entries": {"type": "array", "items": {"$ref": "#/components/schemas/Entry"}},
                "next": {"type": ["string", "null"]}
              }
            },
            "Entry": {
              "type": "object", "additionalProperties": false, "required": ["number", "at", "who", "device", "key"],
              "properties": {
                "number": {"type": "integer"}, "at": {"type": "string", "format": "date-time"},
                "who": {"type": "string"}, "device": {"type": ["string", "null"]}, "key": {"type": ["string", "null"]},
                "request": {"type": "string", "description": "The `X-Request-ID` of the push."},
                "resource": {"type": "string"}, "id": {"$ref": "#/components/schemas/Id"},
                "status": {"enum": ["merged", "rejected", "failed"]}, "problem": {"$ref": "#/components/schemas/Problem"}, "rules": {"type": "string"}, "ids": {"type": "object"},
                "outcomes": {"type": "array", "items": {"$ref": "#/components/schemas/Outcome"}},
                "refused": {
                  "type": "object", "additionalProperties": false, "required": ["address", "reason", "replayed"],
                  "properties": {
                    "address": {"type": "string"}, "reason": {"type": "string"}, "replayed": {"type": ["string", "null"]},
                    "body": {"description": "The push as it was sent."}
                  }
                }
              }
            },
            "Undo": {
              "type": "object", "additionalProperties": false,
              "properties": {"groups": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Groups to undo, as `section.group`; without it, all."}, "force": {"type": "boolean", "default": false, "description": "Also undoes values that have changed since."}}
            }
            """#)
}

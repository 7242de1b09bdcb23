extension OpenAPI {
    /// The answers to edits.
    static let results = Theme(
        headers: #"""
            "Replayed": {"schema": {"const": "true"}, "description": "The answer to an earlier push with this key."}
            """#,
        responses: #"""
            "Result": {
              "description": "What became of the edit.", "headers": {"Idempotent-Replayed": {"$ref": "#/components/headers/Replayed"}},
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Result"}}}
            },
            "Refusal": {
              "description": "What became of the edit; a problem of its own where the request has no result.",
              "headers": {"Idempotent-Replayed": {"$ref": "#/components/headers/Replayed"}},
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/Result"}},
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
              }
            },
            "PushResult": {
              "description": "What became of the push.", "headers": {"Idempotent-Replayed": {"$ref": "#/components/headers/Replayed"}},
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PushResult"}}}
            },
            "PushRefusal": {
              "description": "What became of the push; a problem of its own where the request has no result.",
              "headers": {"Idempotent-Replayed": {"$ref": "#/components/headers/Replayed"}},
              "content": {
                "application/json": {"schema": {"$ref": "#/components/schemas/PushResult"}},
                "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
              }
            }
            """#,
        schemas: #"""
            "Result": {
              "type": "object", "additionalProperties": false, "required": ["resource", "id", "status", "record", "outcomes"],
              "properties": {
                "resource": {"type": "string"}, "id": {"anyOf": [{"$ref": "#/components/schemas/Id"}, {"type": "null"}]}, "status": {"enum": ["merged", "rejected", "failed"]},
                "key": {"type": ["string", "null"]}, "revision": {"type": ["integer", "null"]}, "atomic": {"const": false},
                "record": {"anyOf": [{"$ref": "#/components/schemas/Record"}, {"type": "null"}]},
                "ids": {"type": "object"}, "outcomes": {"type": "array", "items": {"$ref": "#/components/schemas/Outcome"}},
                "problem": {"$ref": "#/components/schemas/Problem"}
              }
            },
            "PushResult": {
              "type": "object", "additionalProperties": false, "required": ["key", "status", "revision", "results"],
              "properties": {
                "key": {"type": ["string", "null"]}, "status": {"enum": ["merged", "rejected", "failed", "partial"]},
                "revision": {"type": ["integer", "null"]},
                "results": {"type": "array", "items": {"$ref": "#/components/schemas/Result"}}, "atomic": {"const": false},
                "problem": {"$ref": "#/components/schemas/Problem"}
              }
            },
            "Outcome": {
              "type": "object", "additionalProperties": false, "required": ["section", "outcome", "rule"],
              "properties": {
                "section": {"type": "string"}, "id": {"$ref": "#/components/schemas/Id"}, "group": {"type": "string"},
                "outcome": {
                  "enum": [
                    "already", "applied", "client-won", "server-won", "combined", "rejected", "inserted", "deleted", "kept", "missing", "restored"
                  ]
                },
                "rule": {"type": "string", "description": "What decided: file and line of a rule file, or `default`."},
                "conflict": {"type": "boolean"}, "cascades": {"type": "array"}, "private": {"type": "array", "items": {"type": "string"}}, "row": {"type": "object"},
                "by": {"anyOf": [{"$ref": "#/components/schemas/Author"}, {"type": "null"}]}, "old": {}, "oldHash": {"type": "string"}, "current": {}, "new": {}, "written": {},
                "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
                "fallback": {"type": "string", "description": "Why the group's merge function did not run."}
              }
            },
            "Part": {
              "description": "A place inside a value that both sides changed: a line of a text, or a member of a JSON value.",
              "type": "object", "additionalProperties": false, "required": ["outcome"],
              "properties": {
                "line": {"type": "integer"}, "path": {"type": "string"}, "outcome": {"enum": ["client-won", "server-won"]},
                "old": {}, "current": {}, "new": {}, "written": {}
              }
            }
            """#)
}

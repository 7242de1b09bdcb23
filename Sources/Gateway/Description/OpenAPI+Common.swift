extension OpenAPI {
    /// Problems and keys, which all addresses use.
    static let common = Theme(
        responses: #"""
            "Problem": {"description": "What went wrong.", "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
            """#,
        schemas: #"""
            "Problem": {
              "type": "object", "additionalProperties": false, "required": ["type", "title", "status", "detail"],
              "properties": {
                "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
                "detail": {"type": "string"}, "code": {"type": "string"}, "path": {"type": "string"},
                "instance": {"type": "string", "description": "The id of the request."},
                "retry": {"type": "boolean"}, "constraint": {"type": "string"}, "rule": {"type": "string"}, "index": {"type": "string"},
                "fields": {"type": "array", "items": {"type": "string"}}, "record": {"type": "object"}, "feed": {"type": "string"}, "earliest": {"type": "integer"},
                "minimum": {"type": "string", "description": "The version from which on a program is served."},
                "message": {"type": "string"}, "link": {"type": "string"}
              }
            },
            "Key": {"type": "string", "minLength": 1, "maxLength": 255},
            "Id": {"description": "A key: a scalar, or an array in key order.", "type": ["string", "number", "boolean", "array"]}
            """#)
}

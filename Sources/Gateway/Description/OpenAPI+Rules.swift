extension OpenAPI {
    /// The rules and their schema.
    static let rules = Theme(
        paths: #"""
            "/v1/rules": {
              "get": {
                "operationId": "getRules", "summary": "The resources with their sections, groups, fields and policies.",
                "responses": {
                  "200": {"description": "The rules.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Rules"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        schemas: #"""
            "Rules": {
              "type": "object", "additionalProperties": false, "required": ["version", "limits", "resources"],
              "properties": {
                "version": {"type": "string"},
                "limits": {
                  "type": "object", "additionalProperties": false, "required": ["body", "edits", "items", "page"],
                  "properties": {
                    "body": {"type": "integer"}, "edits": {"type": "integer"}, "items": {"type": "integer"}, "page": {"type": "integer"}
                  }
                },
                "resources": {"type": "array", "items": {"$ref": "#/components/schemas/Resource"}}
              }
            },
            "Resource": {
              "type": "object", "additionalProperties": false, "required": ["resource", "shape", "sections"],
              "properties": {
                "resource": {"type": "string"}, "description": {"type": "string"},
                "create": {"type": "boolean", "description": "The client may create records. Only where the resource has rules of access."},
                "delete": {"type": "boolean", "description": "The client may delete records."},
                "shape": {"type": "string"},
                "sections": {"type": "array", "items": {"$ref": "#/components/schemas/Section"}}
              }
            },
            "Section": {
              "type": "object", "additionalProperties": false, "required": ["section", "kind", "key", "onMissing", "onDeleteConflict", "groups", "readOnly"],
              "properties": {
                "section": {"type": "string"}, "kind": {"enum": ["root", "singleton", "list"]},
                "key": {
                  "type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["column", "type", "generated"],
                    "properties": {"column": {"type": "string"}, "type": {"type": "string"}, "generated": {"type": "boolean"}}
                  }
                },
                "onMissing": {"enum": ["drop", "restore", "reject"]}, "onDeleteConflict": {"enum": ["delete", "keep", "reject"]},
                "identity": {"type": "array", "items": {"type": "string"}, "description": "Fields by which a created row is recognised."},
                "clientKeys": {"const": "allow", "description": "Clients may choose keys that the database numbers."},
                "softDelete": {"const": true, "description": "Deleting a row keeps it in the database."},
                "frozenWhen": {"const": true, "description": "Some rows are written no more."},
                "checks": {
                  "type": "array", "items": {
                    "type": "object", "additionalProperties": false, "required": ["check", "fields", "onFailure"],
                    "properties": {
                      "check": {"type": "string"}, "fields": {"type": "array", "items": {"type": "string"}},
                      "onFailure": {"enum": ["reject", "server-wins"]}
                    }
                  }
                },
                "groups": {"type": "array", "items": {"$ref": "#/components/schemas/Group"}},
                "readOnly": {"type": "array", "items": {"$ref": "#/components/schemas/Field"}}
              }
            },
            "Group": {
              "type": "object", "additionalProperties": false, "required": ["group", "onConflict", "fields"],
              "properties": {
                "group": {"type": "string"}, "formerly": {"type": "array", "items": {"type": "string"}, "description": "Earlier names."}, "onConflict": {"enum": ["client-wins", "server-wins", "reject"]},
                "merge": {
                  "anyOf": [
                    {"enum": ["add", "max", "min", "set", "text", "json"]},
                    {"type": "object", "additionalProperties": false, "properties": {"json": {"type": "string"}}, "required": ["json"]},
                    {"type": "object", "additionalProperties": false, "properties": {"latest": {"type": "string"}}, "required": ["latest"]}
                  ]
                },
                "transitions": {
                  "type": "object", "additionalProperties": {"type": "array"},
                  "description": "The values that may follow each value; one that is not named may become any."
                },
                "write": {"type": "boolean", "description": "The client may write the group, in some rows. Only where the resource has rules of access."},
                "create": {"type": "boolean", "description": "True where the client may set the group in new rows only."},
                "fields": {"type": "array", "items": {"$ref": "#/components/schemas/Field"}}
              }
            },
            "Field": {
              "type": "object", "additionalProperties": false, "required": ["field", "type", "nullable"],
              "properties": {
                "field": {"type": "string"}, "formerly": {"type": "array", "items": {"type": "string"}, "description": "Earlier names."}, "type": {"type": "string"}, "nullable": {"type": "boolean"}, "references": {"type": "string"},
                "minimum": {"type": ["number", "string"]}, "maximum": {"type": ["number", "string"]},
                "maximumCharacters": {"type": "integer"}, "maximumBytes": {"type": "integer"}, "precision": {"type": "integer"}, "bits": {"type": "integer"},
                "scale": {"type": "integer"}, "fraction": {"type": "integer"}, "members": {"type": "array", "items": {"type": "string"}}
              }
            }
            """#)
}

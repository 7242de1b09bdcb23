extension OpenAPI {
    /// The addresses for operators.
    static let operations = Theme(
        paths: #"""
            "/healthz": {
              "get": {
                "operationId": "health", "security": [],
                "responses": {
                  "200": {"description": "The process runs.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Health"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/readyz": {
              "get": {
                "operationId": "readiness", "security": [],
                "responses": {
                  "200": {"description": "Requests are served.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}},
                  "503": {"description": "They are not, or nothing can be pushed. The body says why.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/v1/operations/maintenance": {
              "post": {
                "operationId": "setMaintenance",
                "summary": "Switches maintenance of this gateway on or off. While it is on, reads go on and pushes are 503. Needs the right operator.",
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/MaintenanceSwitch"}}}},
                "responses": {
                  "200": {"description": "The state from now on.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Maintenance"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/metrics": {
              "get": {
                "operationId": "metrics",
                "responses": {
                  "200": {"description": "Figures in the text format of Prometheus.", "content": {"text/plain": {"schema": {"type": "string"}}}},
                  "401": {"$ref": "#/components/responses/Problem"}, "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/openapi.json": {
              "get": {
                "operationId": "description",
                "responses": {
                  "200": {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}},
                  "401": {"$ref": "#/components/responses/Problem"}, "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        schemas: #"""
            "Health": {"type": "object", "additionalProperties": false, "required": ["status"], "properties": {"status": {"const": "ok"}}},
            "MaintenanceSwitch": {
              "type": "object", "additionalProperties": false, "required": ["maintenance"],
              "properties": {
                "maintenance": {"type": "boolean"},
                "reason": {"type": ["string", "null"], "minLength": 1, "maxLength": 255}
              }
            },
            "Maintenance": {
              "type": "object", "additionalProperties": false, "required": ["maintenance", "reason", "running"],
              "properties": {
                "maintenance": {"type": "boolean"}, "reason": {"type": ["string", "null"]},
                "running": {"type": "integer", "description": "Pushes that were accepted before and still run."}
              }
            },
            "Readiness": {
              "type": "object", "additionalProperties": false, "required": ["status", "rules", "problems", "journal"],
              "properties": {
                "status": {"enum": ["ready", "not-ready"]}, "rules": {"type": ["string", "null"]},
                "problems": {"type": "array", "items": {"type": "string"}},
                "journal": {
                  "type": "object", "additionalProperties": false, "required": ["promise"],
                  "properties": {
                    "promise": {"type": ["string", "null"]}, "rows": {"type": "integer"}, "bytes": {"type": "integer"},
                    "rowsOfLastDay": {"type": "integer"}
                  }
                },
                "feed": {"type": "object", "required": ["revision"], "properties": {"revision": {"type": "integer"}}}
              }
            }
            """#)
}

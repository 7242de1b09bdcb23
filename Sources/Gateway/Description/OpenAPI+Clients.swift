extension OpenAPI {
    /// Access tokens and the client library.
    static let clients = Theme(
        paths: #"""
            "/v1/token": {
              "post": {
                "operationId": "token", "summary": "Gives an access token to who has a refresh token.",
                "responses": {
                  "200": {"description": "An access token.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AccessToken"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/client/{file}": {
              "parameters": [{"name": "file", "in": "path", "required": true, "schema": {"type": "string"}, "description": "`fieldmerge.js`, `fieldmerge.d.ts`, or a module that the first imports."}],
              "get": {
                "operationId": "getClient", "summary": "The client library for JavaScript.", "security": [],
                "responses": {
                  "200": {
                    "description": "The file.", "headers": {"ETag": {"schema": {"type": "string"}}},
                    "content": {"text/javascript": {"schema": {"type": "string"}}, "text/plain": {"schema": {"type": "string"}}}
                  },
                  "304": {"description": "The file is the one that the client has."},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/client/v1/{name}": {
              "parameters": [{"name": "name", "in": "path", "required": true, "schema": {"type": "string"}, "description": "`fieldmerge.js`, `fieldmerge-worker.js`, `fieldmerge.d.ts` or `importmap.json`."}],
              "get": {
                "operationId": "getClientEntry", "summary": "An entry of the client library, which names the address of the modules of one version.", "security": [],
                "responses": {
                  "200": {
                    "description": "The file.", "headers": {"ETag": {"schema": {"type": "string"}}},
                    "content": {"text/javascript": {"schema": {"type": "string"}}, "text/plain": {"schema": {"type": "string"}}, "application/importmap+json": {"schema": {"type": "object"}}}
                  },
                  "304": {"description": "The file is the one that the client has."},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
            "/client/v1/{name}/{file}": {
              "parameters": [
                {"name": "name", "in": "path", "required": true, "schema": {"type": "string"}, "description": "A digest of all files."},
                {"name": "file", "in": "path", "required": true, "schema": {"type": "string"}}
              ],
              "get": {
                "operationId": "getClientModule", "summary": "A module of one version, which never changes.", "security": [],
                "responses": {
                  "200": {
                    "description": "The file.", "headers": {"ETag": {"schema": {"type": "string"}}, "Cache-Control": {"schema": {"type": "string"}}},
                    "content": {"text/javascript": {"schema": {"type": "string"}}, "text/plain": {"schema": {"type": "string"}}}
                  },
                  "304": {"description": "The file is the one that the client has."},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            }
            """#,
        schemas: #"""
            "AccessToken": {
              "type": "object", "additionalProperties": false, "required": ["accessToken", "tokenType", "expiresIn"],
              "properties": {"accessToken": {"type": "string"}, "tokenType": {"const": "Bearer"}, "expiresIn": {"type": "integer", "description": "Seconds."}}
            }
            """#)
}

import Operations

/// The description of the addresses for tools (OpenAPI 3.1).
///
/// What a resource's fields are is told by `/v1/rules`.
enum OpenAPI {
    /// The description as JSON.
    static let document = text.replacing("{program version}", with: ProgramVersion.text)

    private static let text = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "FieldMerge", "version": "{program version}",
            "description": "Reads records of a legacy database and merges edits into it, group by group. HEAD is served wherever GET is. Another method is 405 with Allow; a query member that is not named here, or stands twice, is 400."
          },
          "security": [{"bearer": []}],
          "paths": {
            "/v1/rules": {
              "get": {
                "operationId": "getRules", "summary": "The resources with their sections, groups, fields and policies.",
                "responses": {
                  "200": {"description": "The rules.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Rules"}}}},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
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
            },
            "/v1/changes": {
              "get": {
                "operationId": "getChanges", "summary": "The records that changed after a revision, at once or as events.",
                "parameters": [
                  {"name": "since", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "The revision up to which the client has everything; left out, the answer names the latest."},
                  {"name": "feed", "in": "query", "schema": {"type": "string"}, "description": "The feed of that revision; goes with `since`."},
                  {"$ref": "#/components/parameters/resources"},
                  {"name": "limit", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "Changes on a page; cut to the allowed range."},
                  {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0}, "description": "Seconds to wait with nothing to tell; cut to 60. Not with events."},
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
                  {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "The last cursor of a download that broke."}
                ],
                "responses": {
                  "200": {"description": "Lines `snapshot`, records, `cursor` and `end`.", "content": {"application/x-ndjson": {"schema": {"type": "string"}}}},
                  "410": {"$ref": "#/components/responses/Problem"},
                  "default": {"$ref": "#/components/responses/Problem"}
                }
              }
            },
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
            },
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
            },
            "/v1/journal": {
              "get": {
                "operationId": "listJournal", "summary": "What was merged and what was overwritten, the oldest first.",
                "parameters": [
                  {"name": "resource", "in": "query", "schema": {"type": "string"}},
                  {"name": "id", "in": "query", "schema": {"type": "string"}, "description": "The key of a record of `resource`."},
                  {"name": "who", "in": "query", "schema": {"type": "string"}, "description": "The name of a token."},
                  {"name": "outcome", "in": "query", "schema": {"type": "string"}, "description": "An outcome that occurs in the entry."},
                  {"name": "since", "in": "query", "schema": {"type": "string"}, "description": "A date, or a date and time with a UTC offset."},
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
            },
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
                  "503": {"description": "They are not; the body says why.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Readiness"}}}},
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
          },
          "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "parameters": {
              "resources": {"name": "resources", "in": "query", "schema": {"type": "string", "minLength": 1}, "description": "Names of resources, a comma between them; all if left out."},
              "resource": {"name": "resource", "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}, "description": "The name of a resource, as `/v1/rules` tells it."},
              "key": {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "minLength": 1, "maxLength": 255}, "description": "Names the push, which is then merged once however often it is sent."},
              "device": {"name": "X-Device-ID", "in": "header", "schema": {"type": "string", "maxLength": 255}, "description": "The device, for the journal."},
              "number": {"name": "number", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1}},
              "preview": {
                "name": "preview", "in": "query", "schema": {"type": "boolean", "default": false},
                "description": "Answers what would happen, and writes nothing."
              },
              "by": {
                "name": "by", "in": "query", "schema": {"type": "boolean", "default": false},
                "description": "A conflict also tells `by`: the last push that wrote the group as it stood."
              }
            },
            "headers": {
              "Replayed": {"schema": {"const": "true"}, "description": "The answer to an earlier push with this key."}
            },
            "responses": {
              "Problem": {"description": "What went wrong.", "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}},
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
            },
            "schemas": {
              "Health": {"type": "object", "additionalProperties": false, "required": ["status"], "properties": {"status": {"const": "ok"}}},
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
              },
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
                  "record": {"anyOf": [{"$ref": "#/components/schemas/Record"}, {"type": "null"}], "description": "The record as it is now; null where it is gone."},
                  "by": {"anyOf": [{"$ref": "#/components/schemas/Author"}, {"type": "null"}], "description": "The push that did it; null for other programs."}
                }
              },
              "Author": {
                "type": "object", "additionalProperties": false, "required": ["who", "device", "entry"],
                "properties": {
                  "who": {"type": ["string", "null"]}, "device": {"type": ["string", "null"]}, "entry": {"type": ["integer", "null"]},
                  "at": {"type": "string", "format": "date-time"}
                }
              },
              "Sync": {
                "type": "object", "additionalProperties": false,
                "properties": {
                  "feed": {"type": "string"}, "since": {"type": "integer", "minimum": 0},
                  "resources": {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
                  "limit": {"type": "integer", "minimum": 0},
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
              },
              "Key": {"type": "string", "minLength": 1, "maxLength": 255},
              "Id": {"description": "A key: a scalar, or an array in key order.", "type": ["string", "number", "boolean", "array"]},
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
                "type": "object", "additionalProperties": false, "required": ["resource", "sections"],
                "properties": {
                  "resource": {"type": "string"}, "description": {"type": "string"},
                  "create": {"type": "boolean", "description": "The client may create records. Only where the resource has rules of access."},
                  "delete": {"type": "boolean", "description": "The client may delete records."},
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
                  "group": {"type": "string"}, "onConflict": {"enum": ["client-wins", "server-wins", "reject"]},
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
                  "fields": {"type": "array", "items": {"$ref": "#/components/schemas/Field"}}
                }
              },
              "Field": {
                "type": "object", "additionalProperties": false, "required": ["field", "type", "nullable"],
                "properties": {
                  "field": {"type": "string"}, "type": {"type": "string"}, "nullable": {"type": "boolean"}, "references": {"type": "string"},
                  "minimum": {"type": ["number", "string"]}, "maximum": {"type": ["number", "string"]},
                  "maximumCharacters": {"type": "integer"}, "maximumBytes": {"type": "integer"}, "precision": {"type": "integer"}, "bits": {"type": "integer"},
                  "scale": {"type": "integer"}, "fraction": {"type": "integer"}, "members": {"type": "array", "items": {"type": "string"}}
                }
              },
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
              },
              "Edit": {
                "type": "object", "additionalProperties": false, "required": ["changeset"],
                "properties": {
                  "key": {"$ref": "#/components/schemas/Key"}, "rules": {"type": "string"}, "resource": {"type": "string", "minLength": 1},
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
                  "key": {"$ref": "#/components/schemas/Key"}, "rules": {"type": "string"}, "atomic": {"enum": ["push", "edit"]},
                  "edits": {"type": "array", "items": {"$ref": "#/components/schemas/PushedEdit"}}
                }
              },
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
                  "resource": {"type": "string"}, "id": {"$ref": "#/components/schemas/Id"},
                  "status": {"enum": ["merged", "rejected"]}, "rules": {"type": "string"}, "ids": {"type": "object"},
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
                "properties": {"groups": {"type": "array", "items": {"type": "string"}, "minItems": 1, "description": "Groups to take back, as `section.group`; all where left out."}}
              },
              "AccessToken": {
                "type": "object", "additionalProperties": false, "required": ["accessToken", "tokenType", "expiresIn"],
                "properties": {"accessToken": {"type": "string"}, "tokenType": {"const": "Bearer"}, "expiresIn": {"type": "integer", "description": "Seconds."}}
              },
              "Part": {
                "description": "A place inside a value that both sides changed: a line of a text, or a member of a JSON value.",
                "type": "object", "additionalProperties": false, "required": ["outcome"],
                "properties": {
                  "line": {"type": "integer"}, "path": {"type": "string"}, "outcome": {"enum": ["client-won", "server-won"]},
                  "old": {}, "current": {}, "new": {}, "written": {}
                }
              },
              "Problem": {
                "type": "object", "additionalProperties": false, "required": ["type", "title", "status", "detail"],
                "properties": {
                  "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
                  "detail": {"type": "string"}, "code": {"type": "string"}, "path": {"type": "string"},
                  "retry": {"type": "boolean"}, "constraint": {"type": "string"}, "index": {"type": "string"},
                  "fields": {"type": "array", "items": {"type": "string"}}, "record": {"type": "object"}, "feed": {"type": "string"}, "earliest": {"type": "integer"},
                  "minimum": {"type": "string", "description": "The version from which on a program is served."},
                  "message": {"type": "string"}, "link": {"type": "string"}
                }
              }
            }
          }
        }
        """#
}

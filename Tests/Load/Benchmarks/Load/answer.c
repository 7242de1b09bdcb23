/* Answers: their ends and their contents. */
#define _GNU_SOURCE
#include "load.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *find(const char *from, const char *end, const char *text) {
    return from < end ? memmem(from, (size_t)(end - from), text, strlen(text)) : NULL;
}

static size_t count(const char *from, const char *end, const char *text) {
    size_t found = 0;
    for (; (from = find(from, end, text)); from += strlen(text)) found++;
    return found;
}

/* The value of a header field, or NULL. */
static const char *field(const struct client *client, const char *name) {
    const char *line = client->answer.bytes, *end = line + client->head;
    size_t length = strlen(name);
    while ((line = find(line, end, "\r\n"))) {
        line += 2;
        if ((size_t)(end - line) > length && strncasecmp(line, name, length) == 0) return line + length;
    }
    return NULL;
}

static void read_head(struct client *client) {
    const char *start = client->answer.bytes, *end = find(start, start + client->answer.length, "\r\n\r\n");
    if (!end) return;
    client->head = (size_t)(end - start) + 4;
    const char *length = field(client, "content-length:");
    client->is_chunked = !length;
    client->body = length ? strtoul(length, NULL, 10) : 0;
    client->chunk = client->joined = client->head;
}

/* Joins the chunks in place; true after the last (RFC 9112 section 7.1). */
static bool join_chunks(struct client *client) {
    struct buffer *answer = &client->answer;
    for (;;) {
        const char *line = answer->bytes + client->chunk;
        const char *end = find(line, answer->bytes + answer->length, "\r\n");
        if (!end) return false;
        size_t size = strtoul(line, NULL, 16), data = (size_t)(end - answer->bytes) + 2;
        if (answer->length < data + size + 2) return false;
        if (size == 0) {
            client->body = client->joined - client->head;
            return true;
        }
        memmove(answer->bytes + client->joined, answer->bytes + data, size);
        client->joined += size;
        client->chunk = data + size + 2;
    }
}

bool answer_is_complete(struct client *client) {
    if (client->head == 0) read_head(client);
    if (client->head == 0) return false;
    if (client->is_chunked) return join_chunks(client);
    return client->answer.length >= client->head + client->body;
}

/* Whether the text from here on is this version's street. */
static bool shows(const char *from, const char *end, uint32_t version) {
    char street[MAX_FIELD];
    size_t length = street_of(version, street);
    street[length++] = '"';
    return from && (size_t)(end - from) >= length && memcmp(from, street, length) == 0;
}

static const char *after(const char *from, const char *end, const char *text) {
    const char *found = find(from, end, text);
    return found ? found + strlen(text) : end;
}

/* Every record in the order of its edits, each with the street that was sent. */
static bool shows_records(const struct settings *settings, const struct client *client, const char *body,
                          const char *end) {
    for (size_t i = 0; i < settings->batch; i++) {
        uint32_t index = client->indexes[i];
        body = after(body, end, "\"record\":{\"id\":");
        if (body == end || strtoul(body, NULL, 10) != index + 1u) return false;
        body = after(body, end, "\"street\":\"");
        if (!shows(body, end, settings->versions[index] + 1)) return false;
    }
    return true;
}

static bool shows_page(const struct settings *settings, const struct client *client, const char *body,
                       const char *end) {
    if (count(body, end, "\"quantity\":") != settings->batch * settings->items) return false;
    uint32_t index = client->indexes[0];
    for (size_t i = 0; i < settings->batch; i++, index++) {
        body = after(body, end, "\"street\":\"");
        if (!shows(body, end, settings->versions[index])) return false;
    }
    return find(body, end, "\"street\":\"") == NULL;
}

/* The expected number of records, any of them, each with its current values. */
static bool shows_changes(const struct settings *settings, const char *body, const char *end) {
    static const char id[] = "\"record\":{\"id\":";
    if (count(body, end, id) != settings->batch || !find(body, end, "\"more\":true")) return false;
    for (size_t i = 0; i < settings->batch; i++) {
        body = after(body, end, id);
        size_t index = strtoul(body, NULL, 10) - 1;
        body = after(body, end, "\"street\":\"");
        if (index >= settings->rows || !shows(body, end, settings->versions[index])) return false;
    }
    return true;
}

static const char *read_fault(const struct settings *settings, const struct client *client, const char *body,
                              const char *end) {
    switch (settings->kind) {
    case HEALTH: return find(body, end, "{\"status\":\"ok\"}") ? NULL : "it does not say that all is well";
    case CHANGES: return shows_changes(settings, body, end) ? NULL : "it does not tell what has changed";
    case NO_CHANGES:
        return find(body, end, "\"changes\":[]") && find(body, end, "\"more\":false") ? NULL : "it tells of changes";
    default:
        return shows_page(settings, client, body, end) ? NULL : "it does not show what the records hold";
    }
}

const char *answer_fault(const struct settings *settings, const struct client *client) {
    const char *start = client->answer.bytes, *body = start + client->head, *end = body + client->body;
    if (strncmp(start, "HTTP/1.1 200 ", 13) != 0) return "its status is not 200";
    if (settings->kind == IDLE) return NULL;
    if (settings->kind > PUSH) return read_fault(settings, client, body, end);
    size_t statuses = settings->batch + (settings->kind == PUSH ? 1 : 0);
    if (count(body, end, "\"status\":\"merged\"") != statuses) return "not all of it is merged";
    if (count(body, end, "\"outcome\":") != settings->batch) return "it has another number of outcomes";
    const char *outcome =
        settings->kind == CONFLICT ? "\"outcome\":\"client-won\"" : "\"outcome\":\"applied\"";
    if (count(body, end, outcome) != settings->batch) return "it has another outcome";
    if (!shows_records(settings, client, body, end)) return "a record does not show what was sent";
    return NULL;
}

/* Requests are written into one buffer without a library, to use little of the shared processors. */
#include "load.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_EDIT = 1024, HEAD = 512 };

static unsigned char *busy; /* a byte for each row of an open request */

void buffer_grow(struct buffer *buffer, size_t more) {
    size_t capacity = buffer->capacity ? buffer->capacity : 4096;
    while (capacity - buffer->length < more) capacity *= 2;
    buffer->bytes = realloc(buffer->bytes, capacity);
    if (!buffer->bytes) die("no memory");
    buffer->capacity = capacity;
}

static void text(struct buffer *out, const char *text) { out->length += put_text(out->bytes + out->length, text); }
static void number(struct buffer *out, uint64_t number) { out->length += put_number(out->bytes + out->length, number); }

static void address(struct buffer *out, uint32_t version) {
    text(out, "{\"street\":\"");
    out->length += street_of(version, out->bytes + out->length);
    text(out, "\",\"county\":\"");
    out->length += county_of(version, out->bytes + out->length);
    text(out, "\",\"postCode\":\"");
    out->length += post_code_of(version, out->bytes + out->length);
    text(out, "\"}");
}

static void changeset(const struct settings *settings, struct buffer *out, uint32_t index) {
    uint32_t version = settings->versions[index];
    text(out, "\"id\":");
    number(out, index + 1u);
    text(out, ",\"changeset\":{\"person\":{\"address\":{\"old\":");
    /* Version 0 is in no row. */
    address(out, settings->kind == CONFLICT ? 0 : version);
    text(out, ",\"new\":");
    address(out, version + 1);
    text(out, "}}}}");
}

static uint32_t free_row(const struct settings *settings, struct client *client) {
    for (int attempt = 0; attempt < 100000; attempt++) {
        uint32_t index = (uint32_t)(next_random(&client->random) % settings->rows);
        if (!busy[index]) return index;
    }
    die("the table is too small for so many clients and rows per push");
}

static void key(const struct settings *settings, struct buffer *out) {
    static uint64_t counter;
    text(out, "bench-");
    number(out, settings->seed);
    text(out, "-");
    number(out, ++counter);
}

static void common_fields(const struct settings *settings, struct buffer *out) {
    text(out, " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ");
    text(out, settings->token);
}

/* The head, with space for the length, which is known when the body is complete. */
static size_t post(const struct settings *settings, struct buffer *out, bool has_key) {
    text(out, "POST /v1/");
    if (settings->kind == PUSH) {
        text(out, "push");
    } else {
        text(out, "merge/");
        text(out, settings->resource);
    }
    common_fields(settings, out);
    if (has_key) {
        text(out, "\r\nIdempotency-Key: ");
        key(settings, out);
    }
    text(out, "\r\nContent-Type: application/json\r\nContent-Length:         ");
    size_t place = out->length - 8;
    text(out, "\r\n\r\n");
    return place;
}

static void close_body(struct buffer *out, size_t place, size_t start) {
    char digits[20];
    size_t length = put_number(digits, out->length - start);
    memcpy(out->bytes + place + 8 - length, digits, length);
}

static void push(const struct settings *settings, struct client *client) {
    struct buffer *out = &client->request;
    buffer_need(out, HEAD + settings->batch * LONGEST_EDIT);
    size_t place = post(settings, out, false), start = out->length;
    text(out, "{\"key\":\"");
    key(settings, out);
    text(out, "\",\"edits\":[");
    for (size_t i = 0; i < settings->batch; i++) {
        text(out, i ? ",{\"resource\":\"" : "{\"resource\":\"");
        text(out, settings->resource);
        text(out, "\",");
        changeset(settings, out, client->indexes[i]);
    }
    text(out, "]}");
    close_body(out, place, start);
}

static void edit(const struct settings *settings, struct client *client) {
    struct buffer *out = &client->request;
    buffer_need(out, HEAD + LONGEST_EDIT);
    size_t place = post(settings, out, true), start = out->length;
    text(out, "{");
    changeset(settings, out, client->indexes[0]);
    close_body(out, place, start);
}

/* After a random revision, or after the latest. */
static void read_changes(const struct settings *settings, struct client *client) {
    struct buffer *out = &client->request;
    buffer_need(out, HEAD);
    text(out, "GET /v1/changes?since=");
    number(out, settings->since + (settings->kind == CHANGES ? client->indexes[0] : 0));
    text(out, "&feed=");
    text(out, settings->feed);
    text(out, "&limit=");
    number(out, settings->batch);
    common_fields(settings, out);
    text(out, "\r\n\r\n");
}

static void read_health(const struct settings *settings, struct client *client) {
    buffer_need(&client->request, HEAD);
    text(&client->request, "GET /healthz");
    common_fields(settings, &client->request);
    text(&client->request, "\r\n\r\n");
}

static void read_records(const struct settings *settings, struct client *client) {
    struct buffer *out = &client->request;
    buffer_need(out, HEAD);
    text(out, "GET /v1/records/");
    text(out, settings->resource);
    if (settings->kind == PAGE) {
        text(out, "?limit=");
        number(out, settings->batch);
        text(out, "&after=");
        number(out, client->indexes[0]);
    } else {
        text(out, "/");
        number(out, client->indexes[0] + 1u);
    }
    common_fields(settings, out);
    text(out, "\r\n\r\n");
}

void request_prepare(const struct settings *settings, struct client *client) {
    if (!busy && !(busy = calloc(settings->rows, 1))) die("no memory");
    client->request.length = client->sent = 0;
    client->answer.length = client->head = 0;
    switch (settings->kind) {
    case EDIT:
    case CONFLICT:
    case PUSH:
        for (size_t i = 0; i < settings->batch; i++) {
            client->indexes[i] = free_row(settings, client);
            busy[client->indexes[i]] = 1;
        }
        if (settings->kind == PUSH) {
            push(settings, client);
        } else {
            edit(settings, client);
        }
        break;
    case PAGE: /* a page that is full and is not the last */
        client->indexes[0] = (uint32_t)(next_random(&client->random) % (settings->rows - settings->batch));
        read_records(settings, client);
        break;
    case CHANGES: /* as above */
        client->indexes[0] = (uint32_t)(next_random(&client->random) % (settings->rows - settings->batch));
        read_changes(settings, client);
        break;
    case NO_CHANGES: read_changes(settings, client); break;
    case HEALTH: read_health(settings, client); break;
    case GET:
    case IDLE:
        client->indexes[0] = (uint32_t)(next_random(&client->random) % settings->rows);
        read_records(settings, client);
        break;
    }
}

void request_settle(const struct settings *settings, struct client *client, bool written) {
    if (settings->kind > PUSH) return;
    for (size_t i = 0; i < settings->batch; i++) {
        uint32_t index = client->indexes[i];
        if (written) settings->versions[index]++;
        busy[index] = 0;
    }
}

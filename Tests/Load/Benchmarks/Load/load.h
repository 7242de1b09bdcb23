/* The load generator: the interfaces of its parts. */
#ifndef FIELDMERGE_LOAD_H
#define FIELDMERGE_LOAD_H

#include "common.h"

#include <stdbool.h>

enum kind { EDIT, CONFLICT, PUSH, GET, PAGE, IDLE, HEALTH, CHANGES, NO_CHANGES };

struct settings {
    enum kind kind;
    int port, clients;
    double seconds, warmup;
    uint64_t requests;        /* 0: as many as fit into the time */
    size_t batch;             /* edits of a push, records or changes of a page */
    size_t items;             /* rows in the lists of each record that is read */
    size_t rows;              /* of the table, with the ids 1 to rows */
    const char *resource, *token;
    uint32_t *versions;
    uint64_t seed;
    const char *feed;         /* of the requested changes */
    uint64_t since;           /* the revision after which each row has changed once, or the latest */
};

/* Bytes that grow. */
struct buffer {
    char *bytes;
    size_t length, capacity;
};

static inline void buffer_need(struct buffer *buffer, size_t more);
void buffer_grow(struct buffer *buffer, size_t more);

static inline void buffer_need(struct buffer *buffer, size_t more) {
    if (buffer->capacity - buffer->length < more) buffer_grow(buffer, more);
}

/* One connection with one open request. */
struct client {
    int file;
    uint64_t random, started;
    struct buffer request, answer;
    size_t sent;
    bool waits_to_write;
    uint32_t *indexes;        /* the rows of the open request */
    /* Of the answer, once its head is complete: */
    size_t head;
    size_t body;              /* bytes of the body, with Content-Length */
    bool is_chunked;
    size_t chunk, joined;     /* the start of the next chunk's head, and the target of its bytes */
};

/* Chooses rows that no other client is at, and writes the next request. */
void request_prepare(const struct settings *settings, struct client *client);

/* Releases the rows; `written` is true if they have their next version. */
void request_settle(const struct settings *settings, struct client *client, bool written);

/* Whether the answer is complete. */
bool answer_is_complete(struct client *client);

/* The fault of a complete answer; NULL if it is right. */
const char *answer_fault(const struct settings *settings, const struct client *client);

#endif

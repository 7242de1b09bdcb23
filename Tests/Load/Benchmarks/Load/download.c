/*
 * All records of a table over one connection, as a snapshot or page by page.
 *
 * The bytes are read in parts, and only the current line or number is kept: every
 * record has to be there once, in the order of the keys, with the street of its version.
 */
#define _GNU_SOURCE
#include "common.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ROOM = 1 << 20 };

static const char *resource, *token;
static int port, file;
static size_t rows, page = 500;
static uint32_t *versions;
static char bytes[ROOM + 1];
static size_t length, place; /* the received bytes, and how many of them were read */
static bool is_chunked, is_behind_chunk;
static size_t left; /* of the body, or of the current chunk */
static size_t records;

static void open_connection(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1;
    file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || connect(file, (struct sockaddr *)&address, sizeof address) != 0)
        die("a client cannot connect (error %d)", errno);
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

/* Receives more after the unread bytes. */
static void receive(void) {
    memmove(bytes, bytes + place, length - place);
    length -= place;
    place = 0;
    if (length == ROOM) die("a line is longer than %d bytes", ROOM);
    ssize_t count = recv(file, bytes + length, ROOM - length, 0);
    if (count <= 0) die("the gateway closed the connection (error %d)", errno);
    length += (size_t)count;
    bytes[length] = 0;
}

/* The end of the current line, which is received completely. The place is after it. */
static const char *line(const char *end) {
    for (;;) {
        char *found = memmem(bytes + place, length - place, end, strlen(end));
        if (found) {
            const char *begin = bytes + place;
            *found = 0;
            place = (size_t)(found - bytes) + strlen(end);
            return begin;
        }
        receive();
    }
}

static void request(const char *path) {
    char text[1024];
    int size = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n",
                        path, token);
    if (send(file, text, (size_t)size, MSG_NOSIGNAL) != size) die("a request cannot be sent (error %d)", errno);
    const char *head = line("\r\n\r\n");
    if (strncmp(head, "HTTP/1.1 200 ", 13) != 0) die("an answer is\n%s", head);
    const char *size_field = strcasestr(head, "\r\ncontent-length:");
    is_chunked = !size_field;
    is_behind_chunk = false;
    left = size_field ? strtoul(size_field + 17, NULL, 10) : 0;
}

/* Some more of the body, `more` bytes, valid until the next call; false after the end. */
static bool body(const char **part, size_t *more) {
    if (is_chunked && left == 0) {
        if (is_behind_chunk) line("\r\n");
        is_behind_chunk = true;
        left = strtoul(line("\r\n"), NULL, 16);
        if (left == 0) line("\r\n");
    }
    if (left == 0) return false;
    if (place == length) receive();
    *part = bytes + place;
    *more = length - place < left ? length - place : left;
    place += *more;
    left -= *more;
    return true;
}

/* Looks for streets in a text that comes in parts. */
static void look(const char *part, size_t more) {
    static const char name[] = "\"street\":\"";
    static char text[ROOM + 256];
    static size_t kept;
    if (more + kept > sizeof text) die("a street is too long");
    memcpy(text + kept, part, more);
    const char *from = text, *end = text + kept + more;
    for (const char *found; (found = memmem(from, (size_t)(end - from), name, sizeof name - 1));) {
        const char *begin = found + sizeof name - 1, *quote = memchr(begin, '"', (size_t)(end - begin));
        if (!quote) {
            from = found;
            break;
        }
        char street[MAX_FIELD];
        if (records == rows) die("there are more than %zu records", rows);
        size_t known = street_of(versions[records], street);
        if (known != (size_t)(quote - begin) || memcmp(street, begin, known) != 0)
            die("record %zu has the street %.*s", records + 1, (int)(quote - begin), begin);
        records++;
        from = quote + 1;
    }
    /* Text that may continue in the next part: a street, or a piece of its name. */
    if (!memmem(from, (size_t)(end - from), name, sizeof name - 1) && end - from > (long)sizeof name)
        from = end - sizeof name;
    kept = (size_t)(end - from);
    memmove(text, from, kept);
}

static void take(const char *path) {
    const char *part;
    size_t more;
    request(path);
    while (body(&part, &more)) look(part, more);
}

static void snapshot(void) {
    char path[256];
    snprintf(path, sizeof path, "/v1/snapshot?resources=%s", resource);
    take(path);
}

static void pages(void) {
    char path[256];
    while (records < rows) {
        size_t before = records;
        snprintf(path, sizeof path, "/v1/records/%s?limit=%zu&after=%zu", resource, page, records);
        take(path);
        if (records == before) die("a page is empty");
    }
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"kind", 1, 0, 'k'},  {"port", 1, 0, 'p'},    {"page", 1, 0, 'l'},  {"rows", 1, 0, 'r'},
        {"resource", 1, 0, 'R'}, {"token", 1, 0, 't'}, {"state", 1, 0, 'f'}, {"seed", 1, 0, 'e'},
        {"seconds", 1, 0, 's'}, {"warmup", 1, 0, 'W'}, {"watch", 1, 0, 'w'}, {0, 0, 0, 0}};
    const char *state = NULL, *kind = "snapshot";
    int watched = 0, option;
    struct watched watching[MAX_WATCHED];
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 'k': kind = optarg; break;
        case 'p': port = atoi(optarg); break;
        case 'l': page = strtoul(optarg, NULL, 10); break;
        case 'r': rows = strtoul(optarg, NULL, 10); break;
        case 'R': resource = optarg; break;
        case 't': token = optarg; break;
        case 'f': state = optarg; break;
        case 'e': case 's': case 'W': break; /* one full download, however long it takes */
        case 'w': watch(watching, &watched, optarg); break;
        default: return 2;
        }
    }
    if (!port || !resource || !token || !state || rows == 0 || page == 0)
        die("--port, --resource, --token, --state and --rows are needed");
    versions = map_versions(state, rows);
    open_connection();
    watch_start(watching, watched);
    double cpu = own_cpu();
    uint64_t start = now_ns();
    if (strcmp(kind, "snapshot") == 0) {
        snapshot();
    } else {
        pages();
    }
    double elapsed = (double)(now_ns() - start) / 1e9;
    cpu = own_cpu() - cpu;
    watch_middle(watching, watched);
    watch_end(watching, watched);
    if (records != rows) die("there are %zu records, not %zu", records, rows);
    printf("{\"records\":%zu,\"seconds\":%.6f,\"cpu\":%.6f,", records, elapsed, cpu);
    watch_print(watching, watched);
    printf("}\n");
    return 0;
}

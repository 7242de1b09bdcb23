/*
 * Many event streams: their costs, and the time until a change is sent to all of them.
 *
 * Streams are opened one after the other, each after the first event of the previous one. Then records are edited one
 * after the other over another connection, each after all streams have reported the previous edit. The time begins when
 * the edit is sent. A stream that ends, or is silent for ten seconds, ends the run.
 */
#define _GNU_SOURCE
#include "common.h"
#include "histogram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, ROOM = 32 * 1024, PATIENCE_MS = 10000 };

struct stream {
    int file;
    bool has_told;
    char *bytes; /* the bytes since the last edit that may contain the event */
    size_t length;
};

static const char *resource, *token;
static int port, streams = 1000, changes = 5, told;
static size_t rows;
static uint32_t *versions;
static struct histogram latencies;
static char needle[2 * MAX_FIELD];

static int connected(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0 || connect(file, (struct sockaddr *)&address, sizeof address) != 0)
        die("a client cannot connect (error %d)", errno);
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return file;
}

static void send_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = send(file, bytes, length, MSG_NOSIGNAL);
        if (count <= 0) die("a request cannot be sent (error %d)", errno);
        bytes += count;
        length -= (size_t)count;
    }
}

/* Reads until a text has come. */
static void await(int file, const char *text, char *bytes, size_t room) {
    size_t length = 0;
    for (;;) {
        ssize_t count = recv(file, bytes + length, room - 1 - length, 0);
        if (count <= 0) die("an answer broke off (error %d):\n%.*s", errno, (int)length, bytes);
        length += (size_t)count;
        bytes[length] = 0;
        if (strncmp(bytes, "HTTP/1.1 200 ", length < 13 ? length : 13) != 0) die("an answer is\n%s", bytes);
        if (strstr(bytes, text)) return;
        if (length == room - 1) die("an answer is too long:\n%s", bytes);
    }
}

static void open_stream(struct stream *stream, int poll) {
    char request[1024], answer[4096];
    int length = snprintf(request, sizeof request,
                          "GET /v1/changes?resources=%s HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
                          "Authorization: Bearer %s\r\n\r\n", resource, token);
    stream->file = connected();
    send_all(stream->file, request, (size_t)length);
    await(stream->file, "event: changes", answer, sizeof answer);
    fcntl(stream->file, F_SETFL, O_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = stream};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, stream->file, &event) != 0) die("epoll (error %d)", errno);
}

static void send_edit(int file, uint32_t index) {
    char former[3][MAX_FIELD] = {{0}}, next[3][MAX_FIELD] = {{0}}, body[1024], request[2048];
    uint32_t version = versions[index];
    street_of(version, former[0]), county_of(version, former[1]), post_code_of(version, former[2]);
    street_of(version + 1, next[0]), county_of(version + 1, next[1]), post_code_of(version + 1, next[2]);
    static const char address[] = "{\"street\":\"%s\",\"county\":\"%s\",\"postCode\":\"%s\"}";
    char parts[2][256];
    snprintf(parts[0], sizeof parts[0], address, former[0], former[1], former[2]);
    snprintf(parts[1], sizeof parts[1], address, next[0], next[1], next[2]);
    int length = snprintf(body, sizeof body, "{\"id\":%u,\"changeset\":{\"person\":{\"address\":{\"old\":%s,\"new\":%s}}}}",
                          index + 1, parts[0], parts[1]);
    length = snprintf(request, sizeof request,
                      "POST /v1/merge/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                      "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", resource, token, length, body);
    snprintf(needle, sizeof needle, "\"street\":\"%s\"", next[0]);
    send_all(file, request, (size_t)length);
}

static void receive(struct stream *stream, uint64_t sent) {
    if (!stream->bytes && !(stream->bytes = malloc(ROOM))) die("no memory");
    for (;;) {
        ssize_t count = recv(stream->file, stream->bytes + stream->length, ROOM - stream->length, 0);
        if (count < 0 && errno == EAGAIN) break;
        if (count <= 0) die("a stream ended (error %d)", errno);
        stream->length += (size_t)count;
        if (!stream->has_told && memmem(stream->bytes, stream->length, needle, strlen(needle))) {
            stream->has_told = true;
            told++;
            histogram_add(&latencies, now_ns() - sent);
        }
        if (stream->length == ROOM) die("an event is longer than %d bytes", ROOM);
    }
    /* Heartbeats are short, and nothing else comes before the event that is waited for. */
    if (stream->has_told || stream->length > ROOM / 2) stream->length = 0;
}

/* Handles the received bytes. */
static void turn(int poll, int wait, uint64_t sent) {
    struct epoll_event events[EVENTS];
    int count = epoll_wait(poll, events, EVENTS, wait);
    for (int i = 0; i < count; i++) receive(events[i].data.ptr, sent);
}

static void edit(struct stream *all, int poll, int editor, uint64_t *random) {
    char answer[ROOM];
    uint32_t index = (uint32_t)(next_random(random) % rows);
    /* An earlier heartbeat must not match. */
    needle[0] = 0;
    for (int i = 0; i < streams; i++) {
        all[i].has_told = true;
    }
    turn(poll, 0, 0);
    for (int i = 0; i < streams; i++) {
        all[i].has_told = false;
        all[i].length = 0;
    }
    told = 0;
    uint64_t sent = now_ns();
    send_edit(editor, index);
    while (told < streams) {
        turn(poll, 20, sent);
        if (now_ns() - sent > PATIENCE_MS * 1000000ull) die("%d of %d streams have told a change", told, streams);
    }
    await(editor, "\"outcome\":\"applied\"", answer, sizeof answer);
    versions[index]++;
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"port", 1, 0, 'p'},  {"streams", 1, 0, 'n'}, {"changes", 1, 0, 'c'}, {"rows", 1, 0, 'r'},
        {"resource", 1, 0, 'R'}, {"token", 1, 0, 't'}, {"state", 1, 0, 'f'},  {"seed", 1, 0, 'e'},
        {"seconds", 1, 0, 's'}, {"warmup", 1, 0, 'W'}, {"watch", 1, 0, 'w'},  {0, 0, 0, 0}};
    const char *state = NULL;
    uint64_t random = 1;
    int watched = 0, option;
    struct watched watching[MAX_WATCHED];
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 'p': port = atoi(optarg); break;
        case 'n': streams = atoi(optarg); break;
        case 'c': changes = atoi(optarg); break;
        case 'r': rows = strtoul(optarg, NULL, 10); break;
        case 'R': resource = optarg; break;
        case 't': token = optarg; break;
        case 'f': state = optarg; break;
        case 'e': random = strtoull(optarg, NULL, 10); break;
        case 's': case 'W': break; /* as long as the changes take */
        case 'w': watch(watching, &watched, optarg); break;
        default: return 2;
        }
    }
    if (!port || !resource || !token || !state || rows == 0 || streams < 1)
        die("--port, --resource, --token, --state and --rows are needed");
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    versions = map_versions(state, rows);
    struct stream *all = calloc((size_t)streams, sizeof *all);
    int poll = epoll_create1(EPOLL_CLOEXEC), editor = connected();
    if (!all || poll < 0) die("no memory");
    watch_start(watching, watched);
    uint64_t start = now_ns();
    for (int i = 0; i < streams; i++) open_stream(&all[i], poll);
    double opening = (double)(now_ns() - start) / 1e9, cpu = own_cpu();
    /* Long enough for each to have had a heartbeat. */
    for (uint64_t end = now_ns() + 12000000000ull; now_ns() < end;) turn(poll, 20, now_ns());
    watch_middle(watching, watched);
    for (int i = 0; i < changes; i++) edit(all, poll, editor, &random);
    watch_end(watching, watched);
    printf("{\"streams\":%d,\"changes\":%d,\"opening\":%.6f,\"cpu\":%.6f,\"p50\":%.6f,\"p99\":%.6f,\"max\":%.6f,",
           streams, changes, opening, own_cpu() - cpu, (double)histogram_at(&latencies, 0.5) / 1e6,
           (double)histogram_at(&latencies, 0.99) / 1e6, (double)latencies.maximum / 1e6);
    watch_print(watching, watched);
    printf("}\n");
    return 0;
}

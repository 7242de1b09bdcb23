/*
 * The load generator: many clients over HTTP/1.1 with keep-alive, each with one open request.
 *
 * One thread and epoll, to use little of the processors that it shares with the gateway. Each answer is checked. The
 * first wrong one is printed, and any wrong answer ends the program with status 1.
 */
#include "histogram.h"
#include "load.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, READ = 64 * 1024 };

static struct settings settings = {.clients = 32, .seconds = 5, .warmup = 1, .batch = 1, .seed = 1};
static struct watched watching[MAX_WATCHED];
static int watched;
static struct histogram latencies;
static uint64_t answered, wrong, changed;
static bool is_measuring;

static void open_client(struct client *client, int index, int poll) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)settings.port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1;
    client->file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->file < 0 || connect(client->file, (struct sockaddr *)&address, sizeof address) != 0)
        die("client %d cannot connect (error %d)", index, errno);
    setsockopt(client->file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(client->file, F_SETFL, O_NONBLOCK);
    client->random = settings.seed * 1000003 + (uint64_t)index;
    client->indexes = calloc(settings.batch, sizeof *client->indexes);
    if (!client->indexes) die("no memory");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(poll, EPOLL_CTL_ADD, client->file, &event) != 0) die("epoll (error %d)", errno);
}

/* The rest is sent when the socket can be written again. */
static void send_on(struct client *client, int poll) {
    while (client->sent < client->request.length) {
        ssize_t count = send(client->file, client->request.bytes + client->sent,
                             client->request.length - client->sent, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN) die("the gateway closed a connection (error %d)", errno);
        if (count < 0) break;
        client->sent += (size_t)count;
    }
    bool waits = client->sent < client->request.length;
    if (waits == client->waits_to_write) return;
    client->waits_to_write = waits;
    struct epoll_event event = {.events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = client};
    epoll_ctl(poll, EPOLL_CTL_MOD, client->file, &event);
}

static void start(struct client *client, int poll) {
    request_prepare(&settings, client);
    client->started = now_ns();
    send_on(client, poll);
}

/* Reads the available bytes; true if the answer is complete. */
static bool receive(struct client *client) {
    struct buffer *answer = &client->answer;
    for (;;) {
        buffer_need(answer, READ);
        size_t room = answer->capacity - answer->length;
        ssize_t count = recv(client->file, answer->bytes + answer->length, room, 0);
        if (count == 0) die("the gateway closed a connection");
        if (count < 0 && errno == EAGAIN) return false;
        if (count < 0) die("a connection broke (error %d)", errno);
        answer->length += (size_t)count;
        if (answer_is_complete(client)) return true;
        if ((size_t)count < room) return false;
    }
}

/* Enough for a reader of the message. */
static int shown(const struct buffer *buffer) { return buffer->length < 2048 ? (int)buffer->length : 2048; }

static void finish(struct client *client) {
    uint64_t latency = now_ns() - client->started;
    const char *fault = answer_fault(&settings, client);
    if (fault && wrong++ == 0)
        fprintf(stderr, "a wrong answer, %s:\n%.*s\nto\n%.*s\n", fault, shown(&client->answer),
                client->answer.bytes, shown(&client->request), client->request.bytes);
    if (!fault && settings.kind <= PUSH) changed += settings.batch;
    request_settle(&settings, client, !fault);
    if (is_measuring) {
        histogram_add(&latencies, latency);
        answered++;
    }
}

/* Handles all received bytes, and returns the number of open requests. */
static int turn(int poll, int under_way, bool goes_on) {
    struct epoll_event events[EVENTS];
    int count = epoll_wait(poll, events, EVENTS, 20);
    for (int i = 0; i < count; i++) {
        struct client *client = events[i].data.ptr;
        if (events[i].events & EPOLLOUT) send_on(client, poll);
        if (!(events[i].events & ~(uint32_t)EPOLLOUT) || !receive(client)) continue;
        finish(client);
        if (goes_on) {
            start(client, poll);
        } else {
            under_way--;
        }
    }
    return under_way;
}

static void print(double elapsed, double cpu) {
    printf("{\"answered\":%lu,\"wrong\":%lu,\"changed\":%lu,\"seconds\":%.6f,\"cpu\":%.6f,\"p50\":%.6f,\"p99\":%.6f,"
           "\"max\":%.6f,",
           (unsigned long)answered, (unsigned long)wrong, (unsigned long)changed, elapsed, cpu,
           (double)histogram_at(&latencies, 0.5) / 1e6, (double)histogram_at(&latencies, 0.99) / 1e6,
           (double)latencies.maximum / 1e6);
    watch_print(watching, watched);
    printf("}\n");
}

/* Requests as fast as they are answered: first to warm up, then measured, then until the last is answered. */
static void load(struct client *clients, int poll) {
    for (int i = 0; i < settings.clients; i++) open_client(&clients[i], i, poll);
    for (int i = 0; i < settings.clients; i++) start(&clients[i], poll);
    int under_way = settings.clients;
    uint64_t end = now_ns() + (uint64_t)(settings.warmup * 1e9);
    while (now_ns() < end && wrong == 0) turn(poll, under_way, true);
    watch_start(watching, watched);
    histogram_clear(&latencies);
    answered = 0;
    is_measuring = true;
    double cpu = own_cpu();
    uint64_t start = now_ns(), time = (uint64_t)(settings.seconds * 1e9);
    bool is_half_done = false;
    for (;;) {
        turn(poll, under_way, true);
        uint64_t now = now_ns() - start;
        bool is_half = settings.requests ? answered * 2 >= settings.requests : now * 2 >= time;
        if (is_half && !is_half_done) watch_middle(watching, watched);
        is_half_done |= is_half;
        if (wrong > 0 || (settings.requests ? answered >= settings.requests : now >= time)) break;
    }
    double elapsed = (double)(now_ns() - start) / 1e9;
    is_measuring = false;
    cpu = own_cpu() - cpu;
    watch_end(watching, watched);
    while (under_way > 0) under_way = turn(poll, under_way, false);
    print(elapsed, cpu);
}

/* Connections that send one request, one after the other, and then remain open. */
static void idle(struct client *clients, int poll) {
    watch_start(watching, watched);
    uint64_t begin = now_ns();
    is_measuring = true;
    for (int i = 0; i < settings.clients; i++) {
        open_client(&clients[i], i, poll);
        start(&clients[i], poll);
        for (int under_way = 1; under_way > 0;) under_way = turn(poll, under_way, false);
        free(clients[i].answer.bytes);
        free(clients[i].request.bytes);
        clients[i].answer = clients[i].request = (struct buffer){0};
    }
    watch_middle(watching, watched);
    sleep(2); /* freed memory may be returned */
    watch_end(watching, watched);
    print((double)(now_ns() - begin) / 1e9, own_cpu());
}

static enum kind kind_of(const char *name) {
    static const char *names[] = {"edit", "conflict", "push", "get", "page", "idle", "health", "changes", "no-changes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return (enum kind)i;
    die("--kind is edit, conflict, push, get, page, idle, health, changes or no-changes");
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"kind", 1, 0, 'k'},  {"port", 1, 0, 'p'},    {"clients", 1, 0, 'c'},  {"seconds", 1, 0, 's'},
        {"warmup", 1, 0, 'W'}, {"requests", 1, 0, 'n'}, {"batch", 1, 0, 'b'},    {"items", 1, 0, 'i'},
        {"rows", 1, 0, 'r'},  {"resource", 1, 0, 'R'}, {"token", 1, 0, 't'},    {"state", 1, 0, 'f'},
        {"seed", 1, 0, 'e'},  {"watch", 1, 0, 'w'},   {"feed", 1, 0, 'F'},     {"since", 1, 0, 'S'},
        {0, 0, 0, 0}};
    const char *state = NULL;
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 'k': settings.kind = kind_of(optarg); break;
        case 'p': settings.port = atoi(optarg); break;
        case 'c': settings.clients = atoi(optarg); break;
        case 's': settings.seconds = atof(optarg); break;
        case 'W': settings.warmup = atof(optarg); break;
        case 'n': settings.requests = strtoull(optarg, NULL, 10); break;
        case 'b': settings.batch = strtoul(optarg, NULL, 10); break;
        case 'i': settings.items = strtoul(optarg, NULL, 10); break;
        case 'r': settings.rows = strtoul(optarg, NULL, 10); break;
        case 'R': settings.resource = optarg; break;
        case 't': settings.token = optarg; break;
        case 'f': state = optarg; break;
        case 'e': settings.seed = strtoull(optarg, NULL, 10); break;
        case 'w': watch(watching, &watched, optarg); break;
        case 'F': settings.feed = optarg; break;
        case 'S': settings.since = strtoull(optarg, NULL, 10); break;
        default: return 2;
        }
    }
    if (!settings.port || !settings.resource || !settings.token || !state || settings.clients < 1
        || settings.batch < 1 || settings.rows < 2 * settings.batch)
        die("--port, --resource, --token, --state and --rows are needed");
    if ((settings.kind == CHANGES || settings.kind == NO_CHANGES) && !settings.feed)
        die("changes need --feed and --since");
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    settings.versions = map_versions(state, settings.rows);
    struct client *clients = calloc((size_t)settings.clients, sizeof *clients);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    if (!clients || poll < 0) die("no memory");
    if (settings.kind == IDLE) {
        idle(clients, poll);
    } else {
        load(clients, poll);
    }
    return wrong ? 1 : 0;
}

/*
 * The floor: the speed of a hand-written client on the same server.
 *
 * One merge is one transaction: BEGIN, SELECT … FOR UPDATE, compare, UPDATE, SELECT again, COMMIT, each a prepared
 * statement. Each thread has one connection, and rows are chosen at random. The expected version of a row is compared
 * with the stored one, so a lost merge ends the run.
 */
#include "common.h"

#include <getopt.h>
#include <mysql.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 12, MAX_TEXT = 512, MAX_THREADS = 256 };

static const char *socket_path, *user, *database, *table;
static size_t rows;
static uint32_t *versions;
static atomic_bool measuring, stopping;

/* A row as the binary protocol delivers it. */
struct row {
    int32_t id;
    char first_name[MAX_TEXT], last_name[MAX_TEXT], street[MAX_TEXT], county[MAX_TEXT], post_code[MAX_TEXT];
    char phone[MAX_TEXT], credit_limit[MAX_TEXT], note[MAX_TEXT];
    MYSQL_TIME birthday, modified_at;
    int8_t wants_news;
    unsigned long lengths[COLUMNS];
    char nulls[COLUMNS];
};

struct worker {
    pthread_t thread;
    uint64_t random;
    MYSQL *connection;
    MYSQL_STMT *begin, *lock, *update, *read, *commit;
    struct row held, after;
    int32_t id;
    char street[MAX_FIELD], county[MAX_FIELD], post_code[MAX_FIELD];
    unsigned long lengths[3];
    uint64_t merges, measured;
};

static MYSQL_STMT *prepare(struct worker *worker, const char *sql) {
    MYSQL_STMT *statement = mysql_stmt_init(worker->connection);
    if (!statement || mysql_stmt_prepare(statement, sql, strlen(sql)) != 0)
        die("%s: %s", sql, statement ? mysql_stmt_error(statement) : "no memory");
    return statement;
}

static void bind_row(MYSQL_STMT *statement, struct row *row) {
    void *places[COLUMNS] = {&row->id, row->first_name, row->last_name, row->street, row->county, row->post_code,
                             row->phone, row->credit_limit, &row->birthday, &row->wants_news, row->note,
                             &row->modified_at};
    MYSQL_BIND binds[COLUMNS];
    memset(binds, 0, sizeof binds);
    for (int i = 0; i < COLUMNS; i++) {
        binds[i].buffer_type = MYSQL_TYPE_STRING;
        binds[i].buffer = places[i];
        binds[i].buffer_length = MAX_TEXT;
        binds[i].length = &row->lengths[i];
        binds[i].is_null = &row->nulls[i];
    }
    binds[0].buffer_type = MYSQL_TYPE_LONG;
    binds[8].buffer_type = MYSQL_TYPE_DATE;
    binds[9].buffer_type = MYSQL_TYPE_TINY;
    binds[11].buffer_type = MYSQL_TYPE_TIMESTAMP;
    if (mysql_stmt_bind_result(statement, binds) != 0) die("bind: %s", mysql_stmt_error(statement));
}

static void bind_key(MYSQL_STMT *statement, struct worker *worker) {
    MYSQL_BIND bind;
    memset(&bind, 0, sizeof bind);
    bind.buffer_type = MYSQL_TYPE_LONG;
    bind.buffer = &worker->id;
    if (mysql_stmt_bind_param(statement, &bind) != 0) die("bind: %s", mysql_stmt_error(statement));
}

static void bind_update(struct worker *worker) {
    MYSQL_BIND binds[4];
    memset(binds, 0, sizeof binds);
    void *places[] = {worker->street, worker->county, worker->post_code};
    for (int i = 0; i < 3; i++) {
        binds[i].buffer_type = MYSQL_TYPE_STRING;
        binds[i].buffer = places[i];
        binds[i].buffer_length = MAX_FIELD;
        binds[i].length = &worker->lengths[i];
    }
    binds[3].buffer_type = MYSQL_TYPE_LONG;
    binds[3].buffer = &worker->id;
    if (mysql_stmt_bind_param(worker->update, binds) != 0) die("bind: %s", mysql_stmt_error(worker->update));
}

static void execute(MYSQL_STMT *statement) {
    if (mysql_stmt_execute(statement) != 0) die("execute: %s", mysql_stmt_error(statement));
}

/* Reads the only row. Another row would be an error of this program. */
static void fetch(MYSQL_STMT *statement) {
    int first = mysql_stmt_fetch(statement);
    if (first != 0) die("the row is missing or does not fit (%d): %s", first, mysql_stmt_error(statement));
    if (mysql_stmt_fetch(statement) != MYSQL_NO_DATA) die("more than one row: %s", mysql_stmt_error(statement));
}

static bool holds(const struct row *row, uint32_t version) {
    char street[MAX_FIELD];
    size_t length = street_of(version, street);
    return row->lengths[3] == length && memcmp(row->street, street, length) == 0;
}

static void merge(struct worker *worker) {
    size_t index = next_random(&worker->random) % rows;
    worker->id = (int32_t)index + 1;
    execute(worker->begin);
    execute(worker->lock);
    fetch(worker->lock);
    uint32_t version = versions[index];
    if (!holds(&worker->held, version)) die("row %d is not at version %u", worker->id, version);
    worker->lengths[0] = street_of(version + 1, worker->street);
    worker->lengths[1] = county_of(version + 1, worker->county);
    worker->lengths[2] = post_code_of(version + 1, worker->post_code);
    execute(worker->update);
    if (mysql_stmt_affected_rows(worker->update) != 1) die("row %d was not changed", worker->id);
    execute(worker->read);
    fetch(worker->read);
    if (!holds(&worker->after, version + 1)) die("row %d does not hold what was written", worker->id);
    versions[index] = version + 1; /* the row is locked, so no other thread writes it */
    execute(worker->commit);
    worker->merges++;
    if (atomic_load_explicit(&measuring, memory_order_relaxed)) worker->measured++;
}

static void open_connection(struct worker *worker) {
    char lock[256], update[256], read[256];
    const char *columns = "id, first_name, last_name, street, county, post_code, phone, credit_limit, birthday, "
                          "wants_news, note, modified_at";
    worker->connection = mysql_init(NULL);
    if (!mysql_real_connect(worker->connection, NULL, user, NULL, database, 0, socket_path, 0))
        die("connect: %s", mysql_error(worker->connection));
    /* The session that the gateway sets. */
    if (mysql_set_character_set(worker->connection, "utf8mb4") != 0
        || mysql_query(worker->connection, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED") != 0)
        die("session: %s", mysql_error(worker->connection));
    snprintf(lock, sizeof lock, "SELECT %s FROM %s WHERE id = ? FOR UPDATE", columns, table);
    snprintf(update, sizeof update, "UPDATE %s SET street = ?, county = ?, post_code = ? WHERE id = ?", table);
    snprintf(read, sizeof read, "SELECT %s FROM %s WHERE id = ?", columns, table);
    worker->begin = prepare(worker, "BEGIN");
    worker->lock = prepare(worker, lock);
    worker->update = prepare(worker, update);
    worker->read = prepare(worker, read);
    worker->commit = prepare(worker, "COMMIT");
    bind_key(worker->lock, worker);
    bind_key(worker->read, worker);
    bind_update(worker);
    bind_row(worker->lock, &worker->held);
    bind_row(worker->read, &worker->after);
}

static void *run(void *argument) {
    struct worker *worker = argument;
    mysql_thread_init();
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) merge(worker);
    mysql_thread_end();
    return NULL;
}

static void rest(double seconds) { usleep((useconds_t)(seconds * 1e6)); }

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"socket", 1, 0, 's'},  {"user", 1, 0, 'u'},   {"database", 1, 0, 'd'}, {"table", 1, 0, 't'},
        {"rows", 1, 0, 'r'},    {"state", 1, 0, 'f'},  {"threads", 1, 0, 'n'},  {"seconds", 1, 0, 'S'},
        {"warmup", 1, 0, 'W'},  {"seed", 1, 0, 'e'},   {"watch", 1, 0, 'w'},    {0, 0, 0, 0}};
    int threads = 8, watched = 0, option;
    double seconds = 5, warmup = 1;
    uint64_t seed = 1;
    const char *state = NULL;
    struct watched watching[MAX_WATCHED];
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 's': socket_path = optarg; break;
        case 'u': user = optarg; break;
        case 'd': database = optarg; break;
        case 't': table = optarg; break;
        case 'r': rows = strtoul(optarg, NULL, 10); break;
        case 'f': state = optarg; break;
        case 'n': threads = atoi(optarg); break;
        case 'S': seconds = atof(optarg); break;
        case 'W': warmup = atof(optarg); break;
        case 'e': seed = strtoull(optarg, NULL, 10); break;
        case 'w': watch(watching, &watched, optarg); break;
        default: return 2;
        }
    }
    if (!socket_path || !user || !database || !table || !state || rows == 0 || threads < 1 || threads > MAX_THREADS)
        die("--socket, --user, --database, --table, --rows and --state are needed; 1 to %d threads", MAX_THREADS);
    versions = map_versions(state, rows);
    mysql_library_init(0, NULL, NULL);
    struct worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!workers) die("no memory");
    for (int i = 0; i < threads; i++) {
        workers[i].random = seed * 1000003 + (uint64_t)i;
        open_connection(&workers[i]);
    }
    for (int i = 0; i < threads; i++)
        if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0) die("no thread");
    rest(warmup);
    watch_start(watching, watched);
    double cpu = own_cpu();
    uint64_t start = now_ns();
    atomic_store(&measuring, true);
    rest(seconds / 2);
    watch_middle(watching, watched);
    rest(seconds / 2);
    atomic_store(&measuring, false);
    double elapsed = (double)(now_ns() - start) / 1e9;
    cpu = own_cpu() - cpu;
    watch_end(watching, watched);
    atomic_store(&stopping, true);
    uint64_t merges = 0, measured = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
        merges += workers[i].merges;
        measured += workers[i].measured;
    }
    printf("{\"merges\":%lu,\"changed\":%lu,\"seconds\":%.6f,\"cpu\":%.6f,", (unsigned long)measured,
           (unsigned long)merges, elapsed, cpu);
    watch_print(watching, watched);
    printf("}\n");
    return 0;
}

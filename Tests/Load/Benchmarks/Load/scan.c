/*
 * The floor of the scan: the costs of a hand-written client that reads and hashes a table.
 *
 * One connection reads the rows in the order of their key, one range at a time, with a prepared statement over the
 * binary protocol. It hashes each row with SipHash-2-4 over the same words as the gateway. A pass with another sum or
 * number of rows than the first ends the run, so no program may write to the table.
 */
#include "common.h"
#include "siphash.h"

#include <getopt.h>
#include <mysql.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 12, MAX_TEXT = 256 };
enum { MARK_NULL, MARK_INTEGER, MARK_MOMENT = 5, MARK_BYTES = 6 };

static const enum enum_field_types types[COLUMNS] = {
    MYSQL_TYPE_LONGLONG, MYSQL_TYPE_STRING, MYSQL_TYPE_STRING, MYSQL_TYPE_STRING, MYSQL_TYPE_STRING,
    MYSQL_TYPE_STRING, MYSQL_TYPE_STRING, MYSQL_TYPE_STRING, MYSQL_TYPE_DATE, MYSQL_TYPE_LONGLONG,
    MYSQL_TYPE_STRING, MYSQL_TYPE_DATETIME};

/* A column of the row that was fetched last. */
union place {
    char text[MAX_TEXT];
    int64_t number;
    MYSQL_TIME time;
};

static union place places[COLUMNS];
static unsigned long lengths[COLUMNS];
static my_bool nulls[COLUMNS];
static int64_t low, high, limit;

static MYSQL_STMT *prepare(MYSQL *connection, const char *table) {
    char sql[512];
    snprintf(sql, sizeof sql,
             "SELECT id, first_name, last_name, street, county, post_code, phone, credit_limit, birthday, wants_news, "
             "note, modified_at FROM %s WHERE id > ? AND id <= ? ORDER BY id LIMIT ?", table);
    MYSQL_STMT *statement = mysql_stmt_init(connection);
    if (!statement || mysql_stmt_prepare(statement, sql, strlen(sql)) != 0)
        die("%s: %s", sql, statement ? mysql_stmt_error(statement) : "no memory");
    MYSQL_BIND parameters[3], results[COLUMNS];
    memset(parameters, 0, sizeof parameters);
    memset(results, 0, sizeof results);
    int64_t *values[] = {&low, &high, &limit};
    for (int i = 0; i < 3; i++) {
        parameters[i].buffer_type = MYSQL_TYPE_LONGLONG;
        parameters[i].buffer = values[i];
    }
    for (int i = 0; i < COLUMNS; i++) {
        results[i].buffer_type = types[i];
        results[i].buffer = &places[i];
        results[i].buffer_length = sizeof places[i];
        results[i].length = &lengths[i];
        results[i].is_null = &nulls[i];
    }
    if (mysql_stmt_bind_param(statement, parameters) != 0 || mysql_stmt_bind_result(statement, results) != 0)
        die("bind: %s", mysql_stmt_error(statement));
    return statement;
}

static uint64_t digest(void) {
    struct siphash hash = siphash_begin(1, 2);
    for (int i = 0; i < COLUMNS; i++) {
        const MYSQL_TIME *time = &places[i].time;
        if (nulls[i]) {
            siphash_word(&hash, MARK_NULL);
        } else if (types[i] == MYSQL_TYPE_LONGLONG) {
            siphash_word(&hash, MARK_INTEGER);
            siphash_word(&hash, (uint64_t)places[i].number);
        } else if (types[i] == MYSQL_TYPE_STRING) {
            if (lengths[i] > MAX_TEXT) die("a text is longer than %d bytes", MAX_TEXT);
            siphash_word(&hash, MARK_BYTES | (uint64_t)lengths[i] << 8);
            siphash_bytes(&hash, places[i].text, lengths[i]);
        } else {
            siphash_word(&hash, MARK_MOMENT);
            siphash_word(&hash, (uint64_t)time->year << 32 | (uint64_t)time->month << 16 | (uint64_t)time->day << 1);
            siphash_word(&hash, types[i] == MYSQL_TYPE_DATE
                                    ? 0
                                    : (uint64_t)time->hour << 40 | (uint64_t)time->minute << 32
                                          | (uint64_t)time->second << 24 | time->second_part);
        }
    }
    return siphash_end(&hash);
}

struct sum {
    uint64_t rows, digest;
};

static struct sum pass(MYSQL_STMT *statement, uint64_t rows) {
    struct sum sum = {0};
    for (low = 0; (uint64_t)low < rows; low = high) {
        high = low + limit - 1;
        if (mysql_stmt_execute(statement) != 0 || mysql_stmt_store_result(statement) != 0)
            die("execute: %s", mysql_stmt_error(statement));
        int status;
        while ((status = mysql_stmt_fetch(statement)) == 0) {
            sum.rows++;
            sum.digest += digest();
        }
        if (status != MYSQL_NO_DATA) die("fetch (%d): %s", status, mysql_stmt_error(statement));
        mysql_stmt_free_result(statement);
    }
    return sum;
}

int main(int count, char **arguments) {
    static const struct option options[] = {
        {"socket", 1, 0, 's'}, {"user", 1, 0, 'u'},    {"database", 1, 0, 'd'}, {"table", 1, 0, 't'},
        {"rows", 1, 0, 'r'},   {"range", 1, 0, 'g'},   {"seconds", 1, 0, 'S'},  {"warmup", 1, 0, 'W'},
        {"seed", 1, 0, 'e'},   {"watch", 1, 0, 'w'},   {0, 0, 0, 0}};
    const char *socket_path = NULL, *user = NULL, *database = NULL, *table = NULL;
    uint64_t rows = 0;
    double seconds = 5;
    int watched = 0, option;
    struct watched watching[MAX_WATCHED];
    limit = 4001;
    while ((option = getopt_long(count, arguments, "", options, NULL)) != -1) {
        switch (option) {
        case 's': socket_path = optarg; break;
        case 'u': user = optarg; break;
        case 'd': database = optarg; break;
        case 't': table = optarg; break;
        case 'r': rows = strtoull(optarg, NULL, 10); break;
        case 'g': limit = atoll(optarg) + 1; break;
        case 'S': seconds = atof(optarg); break;
        case 'W': break; /* the first pass warms up */
        case 'e': break; /* nothing here is drawn */
        case 'w': watch(watching, &watched, optarg); break;
        default: return 2;
        }
    }
    if (!socket_path || !user || !database || !table || rows == 0 || limit < 2)
        die("--socket, --user, --database, --table and --rows are needed");
    MYSQL *connection = mysql_init(NULL);
    if (!mysql_real_connect(connection, NULL, user, NULL, database, 0, socket_path, 0)
        || mysql_set_character_set(connection, "utf8mb4") != 0)
        die("connect: %s", mysql_error(connection));
    MYSQL_STMT *statement = prepare(connection, table);
    struct sum first = pass(statement, rows);
    if (first.rows != rows) die("%s has %lu rows", table, (unsigned long)first.rows);
    watch_start(watching, watched);
    double cpu = own_cpu();
    uint64_t start = now_ns(), passes = 0;
    do {
        struct sum sum = pass(statement, rows);
        if (sum.rows != first.rows || sum.digest != first.digest) die("a pass came to another sum than the first");
        passes++;
    } while ((double)(now_ns() - start) < seconds * 1e9);
    double elapsed = (double)(now_ns() - start) / 1e9;
    cpu = own_cpu() - cpu;
    watch_middle(watching, watched);
    watch_end(watching, watched);
    printf("{\"rows\":%lu,\"passes\":%lu,\"seconds\":%.6f,\"cpu\":%.6f,", (unsigned long)(passes * rows),
           (unsigned long)passes, elapsed, cpu);
    watch_print(watching, watched);
    printf("}\n");
    mysql_stmt_close(statement);
    mysql_close(connection);
    return 0;
}

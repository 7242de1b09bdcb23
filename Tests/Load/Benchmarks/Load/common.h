/* Shared by the floor and the load generator: clocks, seeded random numbers, and addresses with their version. */
#ifndef FIELDMERGE_COMMON_H
#define FIELDMERGE_COMMON_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MAX_WATCHED = 4 };

/* A process whose costs are reported with the figures. */
struct watched {
    const char *name;
    pid_t pid;
    double cpu_start, cpu;          /* seconds of processor time, user and system */
    long rss_start, rss_middle, rss_end, rss_peak; /* KiB */
};

/* Ends the program with status 1 and a message. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t now_ns(void);
double own_cpu(void);
double process_cpu(pid_t pid);

/* SplitMix64 (Steele, Lea and Flood, 2014): the same numbers for the same seed. */
uint64_t next_random(uint64_t *state);

/* "NAME=PID" of the command line. */
void watch(struct watched *list, int *count, char *argument);
void watch_start(struct watched *list, int count);
void watch_middle(struct watched *list, int count);
void watch_end(struct watched *list, int count);
void watch_print(const struct watched *list, int count);

/* The versions of all rows of a table, shared by all programs of one benchmark through a file. */
uint32_t *map_versions(const char *path, size_t rows);

/* The address of a row of this version. All three fields differ from those of the previous version. */
enum { MAX_FIELD = 48 };
size_t street_of(uint32_t version, char *out);
size_t county_of(uint32_t version, char *out);
size_t post_code_of(uint32_t version, char *out);

size_t put_text(char *out, const char *text);
size_t put_number(char *out, uint64_t number);

#endif

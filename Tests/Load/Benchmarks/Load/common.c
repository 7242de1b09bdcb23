#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void die(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

static double seconds_of(clockid_t clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) die("a clock cannot be read");
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

double own_cpu(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

/* The sum of utime and stime in nanoseconds. /proc/PID/stat has hundredths of a second. */
double process_cpu(pid_t pid) {
    clockid_t clock;
    if (clock_getcpuclockid(pid, &clock) != 0) die("process %d is gone", (int)pid);
    return seconds_of(clock);
}

uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static long status_value(pid_t pid, const char *name) {
    char path[64], line[256];
    long value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (!file) die("process %d is gone", (int)pid);
    while (fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name));
    fclose(file);
    return value;
}

void watch(struct watched *list, int *count, char *argument) {
    char *equals = strchr(argument, '=');
    if (!equals || *count == MAX_WATCHED) die("--watch is NAME=PID, up to %d times", MAX_WATCHED);
    *equals = 0;
    list[*count] = (struct watched){.name = argument, .pid = atoi(equals + 1)};
    *count += 1;
}

void watch_start(struct watched *list, int count) {
    for (int i = 0; i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)list[i].pid);
        /* Resets the peak. If that is not permitted, it is the peak since the start of the process. */
        int file = open(path, O_WRONLY);
        if (file >= 0) {
            if (write(file, "5", 1) < 0) {}
            close(file);
        }
        list[i].rss_start = status_value(list[i].pid, "VmRSS:");
        list[i].cpu_start = process_cpu(list[i].pid);
    }
}

void watch_middle(struct watched *list, int count) {
    for (int i = 0; i < count; i++) list[i].rss_middle = status_value(list[i].pid, "VmRSS:");
}

void watch_end(struct watched *list, int count) {
    for (int i = 0; i < count; i++) {
        list[i].cpu = process_cpu(list[i].pid) - list[i].cpu_start;
        list[i].rss_end = status_value(list[i].pid, "VmRSS:");
        list[i].rss_peak = status_value(list[i].pid, "VmHWM:");
    }
}

void watch_print(const struct watched *list, int count) {
    printf("\"processes\":{");
    for (int i = 0; i < count; i++)
        printf("%s\"%s\":{\"cpu\":%.6f,\"rss\":[%ld,%ld,%ld],\"peak\":%ld}", i ? "," : "", list[i].name, list[i].cpu,
               list[i].rss_start, list[i].rss_middle, list[i].rss_end, list[i].rss_peak);
    printf("}");
}

uint32_t *map_versions(const char *path, size_t rows) {
    int file = open(path, O_RDWR);
    if (file < 0 || lseek(file, 0, SEEK_END) != (off_t)(rows * sizeof(uint32_t)))
        die("%s does not hold the versions of %zu rows", path, rows);
    void *memory = mmap(NULL, rows * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) die("%s cannot be mapped", path);
    close(file);
    return memory;
}

size_t put_text(char *out, const char *text) {
    size_t length = strlen(text);
    memcpy(out, text, length);
    return length;
}

size_t put_number(char *out, uint64_t number) {
    char digits[20];
    size_t length = 0;
    do {
        digits[length++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    for (size_t i = 0; i < length; i++) out[i] = digits[length - 1 - i];
    return length;
}

size_t street_of(uint32_t version, char *out) {
    size_t length = put_number(out, version);
    return length + put_text(out + length, " High Street");
}

size_t county_of(uint32_t version, char *out) {
    size_t length = put_text(out, "County ");
    return length + put_number(out + length, version % 97);
}

size_t post_code_of(uint32_t version, char *out) {
    size_t length = put_text(out, "CT");
    length += put_number(out + length, version % 89);
    return length + put_text(out + length, " 1AA");
}

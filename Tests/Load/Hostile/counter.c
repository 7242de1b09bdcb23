/*
 * Counts the work of a program into which it is loaded (LD_PRELOAD): the bytes that the C library copies, fills,
 * compares or allocates. The program's starter reads the counts from a file. No clock is used, so a request has about
 * the same count on each machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static _Atomic uint64_t own;
static _Atomic uint64_t *work = &own;
static void *(*real_copy)(void *, const void *, size_t);
static void *(*real_move)(void *, const void *, size_t);
static void *(*real_set)(void *, int, size_t);
static int (*real_compare)(const void *, const void *, size_t);

__attribute__((constructor)) static void begin(void) {
    real_copy = dlsym(RTLD_NEXT, "memcpy");
    real_move = dlsym(RTLD_NEXT, "memmove");
    real_set = dlsym(RTLD_NEXT, "memset");
    real_compare = dlsym(RTLD_NEXT, "memcmp");
    const char *path = getenv("HOSTILE_COUNTER");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0) return;
    void *shared = mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) work = shared;
}

static void count(size_t size) { atomic_fetch_add_explicit(work, size, memory_order_relaxed); }

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    count(size);
    if (real_copy) return real_copy(to, from, size);
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    count(size);
    if (real_move) return real_move(to, from, size);
    if (to < from) for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
    else for (size_t i = size; i > 0; i--) ((volatile char *)to)[i - 1] = ((const char *)from)[i - 1];
    return to;
}

void *memset(void *to, int byte, size_t size) {
    count(size);
    if (real_set) return real_set(to, byte, size);
    for (size_t i = 0; i < size; i++) ((volatile char *)to)[i] = (char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size) {
    count(size);
    if (real_compare) return real_compare(a, b, size);
    for (size_t i = 0; i < size; i++) {
        int difference = ((const volatile unsigned char *)a)[i] - ((const volatile unsigned char *)b)[i];
        if (difference) return difference;
    }
    return 0;
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
    void *memory = memalign(alignment, size);
    if (memory == NULL) return ENOMEM;
    *out = memory;
    return 0;
}

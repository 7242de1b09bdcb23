/* Latencies in buckets that are 1.6 % wide, from nanoseconds to hours. */
#ifndef FIELDMERGE_HISTOGRAM_H
#define FIELDMERGE_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

enum { SUB_BITS = 6, SUBS = 1 << SUB_BITS, BUCKETS = (64 - SUB_BITS + 1) * SUBS };

struct histogram {
    uint64_t counts[BUCKETS], total, maximum;
};

static inline unsigned bucket_of(uint64_t value) {
    if (value < SUBS) return (unsigned)value;
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - SUB_BITS;
    return (shift + 1) * SUBS + (unsigned)((value >> shift) - SUBS);
}

static inline uint64_t middle_of(unsigned bucket) {
    if (bucket < SUBS) return bucket;
    unsigned shift = bucket / SUBS - 1;
    return ((uint64_t)(bucket % SUBS + SUBS) << shift) + ((1ull << shift) >> 1);
}

static inline void histogram_clear(struct histogram *histogram) { memset(histogram, 0, sizeof *histogram); }

static inline void histogram_add(struct histogram *histogram, uint64_t value) {
    histogram->counts[bucket_of(value)]++;
    histogram->total++;
    if (value > histogram->maximum) histogram->maximum = value;
}

static inline uint64_t histogram_at(const struct histogram *histogram, double share) {
    uint64_t wanted = (uint64_t)((double)histogram->total * share), seen = 0;
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
        seen += histogram->counts[bucket];
        if (histogram->counts[bucket] && seen >= wanted) return middle_of(bucket);
    }
    return histogram->maximum;
}

#endif

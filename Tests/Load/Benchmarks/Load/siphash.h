/* SipHash-2-4 (Aumasson and Bernstein, 2012) over whole words, as the gateway hashes rows. */
#ifndef FIELDMERGE_SIPHASH_H
#define FIELDMERGE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct siphash {
    uint64_t v0, v1, v2, v3, count;
};

static inline uint64_t siphash_turned(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

static inline void siphash_round(struct siphash *hash) {
    hash->v0 += hash->v1;
    hash->v1 = siphash_turned(hash->v1, 13) ^ hash->v0;
    hash->v0 = siphash_turned(hash->v0, 32);
    hash->v2 += hash->v3;
    hash->v3 = siphash_turned(hash->v3, 16) ^ hash->v2;
    hash->v0 += hash->v3;
    hash->v3 = siphash_turned(hash->v3, 21) ^ hash->v0;
    hash->v2 += hash->v1;
    hash->v1 = siphash_turned(hash->v1, 17) ^ hash->v2;
    hash->v2 = siphash_turned(hash->v2, 32);
}

static inline struct siphash siphash_begin(uint64_t low, uint64_t high) {
    return (struct siphash){.v0 = low ^ 0x736f6d6570736575u, .v1 = high ^ 0x646f72616e646f6du,
                            .v2 = low ^ 0x6c7967656e657261u, .v3 = high ^ 0x7465646279746573u};
}

static inline void siphash_compress(struct siphash *hash, uint64_t word) {
    hash->v3 ^= word;
    siphash_round(hash);
    siphash_round(hash);
    hash->v0 ^= word;
}

static inline void siphash_word(struct siphash *hash, uint64_t word) {
    hash->count += 8;
    siphash_compress(hash, word);
}

/* Bytes, filled up with zeros to whole words. */
static inline void siphash_bytes(struct siphash *hash, const char *bytes, size_t length) {
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        siphash_word(hash, word);
    }
    if (length == 0) return;
    uint64_t word = 0;
    memcpy(&word, bytes, length);
    siphash_word(hash, word);
}

static inline uint64_t siphash_end(struct siphash *hash) {
    siphash_compress(hash, (hash->count & 0xFF) << 56);
    hash->v2 ^= 0xFF;
    for (int i = 0; i < 4; i++) siphash_round(hash);
    return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}

#endif

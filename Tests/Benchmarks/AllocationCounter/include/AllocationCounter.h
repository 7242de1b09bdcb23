/* Counts the allocations of this program: those of Swift, of the C library and of every library beside it. */
#ifndef FIELDMERGE_ALLOCATION_COUNTER_H
#define FIELDMERGE_ALLOCATION_COUNTER_H

#include <stdint.h>

uint64_t allocation_count(void);

#endif

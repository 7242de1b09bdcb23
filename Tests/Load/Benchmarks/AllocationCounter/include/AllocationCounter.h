/* Counts all allocations of this program: by Swift, the C library and other libraries. */
#ifndef FIELDMERGE_ALLOCATION_COUNTER_H
#define FIELDMERGE_ALLOCATION_COUNTER_H

#include <stdint.h>

uint64_t allocation_count(void);

#endif

// How a `Mutex` of Swift waits on Linux, in a form that the thread sanitizer sees.
//
// The fast way to take one is compiled into each module and is seen; the slow way is in the standard library, which is
// not built for the sanitizer, so that it takes whoever waited for a `Mutex` for a racer. A dozen lines with two
// threads show it. This function stands in the place of that one in the tests that Tests/sanitize builds: it tries
// until it has the lock, by the operation that the fast way uses. Nobody then waits in the kernel, and the way to give
// the lock back stays as it is. (Swift 6, stdlib/public/Synchronization/Mutex/LinuxImpl.swift.)
#include "SanitizedMutex.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// `_MutexHandle._lockSlow(_:)`
SWIFT void wait_for_mutex(uint32_t thread, SELF _Atomic uint32_t *owner)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");

SWIFT void wait_for_mutex(uint32_t thread, SELF _Atomic uint32_t *owner) {
    uint32_t nobody;
    do {
        sched_yield();
        nobody = 0;
    } while (!atomic_compare_exchange_weak_explicit(owner, &nobody, thread, memory_order_acquire, memory_order_relaxed));
}

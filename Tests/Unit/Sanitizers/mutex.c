// The wait of a Swift `Mutex` on Linux, in a form that the thread sanitizer understands.
//
// The fast path of a lock is compiled into each module, and the sanitizer understands it. The slow path is in the
// standard library, which is not built for the sanitizer, so a thread that waited for a `Mutex` is reported as a race.
// A dozen lines with two threads show this. In the tests of Tests/run sanitize this function replaces the slow path: it
// tries the operation of the fast path until it has the lock. So no thread waits in the kernel, and the unlock is
// unchanged. (Swift 6, stdlib/public/Synchronization/Mutex/LinuxImpl.swift.)
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

#if canImport(Glibc)
    import Glibc
#endif

/// Returns freed memory to the system.
package enum FreedMemory {
    /// The parameters of `mallopt` in glibc.
    ///
    /// They limit the free bytes at the end of a heap, the size of allocations in heaps, and the number of heaps.
    private static let settings: [(parameter: Int32, value: Int32)] = [(-1, 8 << 20), (-3, 1 << 20), (-8, 4)]

    /// Configures glibc to return large allocations to the system.
    ///
    /// By default glibc keeps up to 64 MB in each of eight heaps per processor. A few large bodies would enlarge the
    /// process for ever. Other allocators are not affected.
    package static func goesBack() {
        #if canImport(Glibc)
            guard let found = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(found, to: (@convention(c) (Int32, Int32) -> Int32).self)
            for setting in settings { _ = mallopt(setting.parameter, setting.value) }
        #endif
    }
}

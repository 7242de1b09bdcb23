#if canImport(Glibc)
    import Glibc
#endif

/// The memory that is free again.
package enum FreedMemory {
    /// Parameters of `mallopt` as glibc numbers them, with what they are set to: the free bytes at a heap's end that are
    /// kept, the length from which a piece of memory is the system's own, and the number of heaps.
    private static let settings: [(parameter: Int32, value: Int32)] = [(-1, 8 << 20), (-3, 1 << 20), (-8, 4)]

    /// Has the system get large pieces back at once.
    ///
    /// glibc would keep up to 64 MB in each of eight heaps for every processor, so that a few large bodies would leave the
    /// process large for ever. Other allocators have no such function, and stay as they are.
    package static func goesBack() {
        #if canImport(Glibc)
            guard let found = dlsym(nil, "mallopt") else { return }
            let mallopt = unsafeBitCast(found, to: (@convention(c) (Int32, Int32) -> Int32).self)
            for setting in settings { _ = mallopt(setting.parameter, setting.value) }
        #endif
    }
}

// Nothing to be called: the module replaces a function of Swift's standard library where it is linked.

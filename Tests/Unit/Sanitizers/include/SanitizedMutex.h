// This module has no functions to call. It replaces a function of Swift's standard library.

#pragma once
// Compiles a loop for several instruction sets, one of which is chosen when the program starts. For loops over ranges
// of a few thousand elements, where the indirect call costs nothing. ThreadSanitizer cannot bear it: the choice is made
// before its own start.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define LOOM_VECTORISED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define LOOM_VECTORISED
#endif

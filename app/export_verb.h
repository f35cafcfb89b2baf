#pragma once
// `gradloom export SOURCE --svg|--png|--pdf FILE`: drawings without a window; what else `loom export` writes is handed
// on to it.
namespace loom {

// The whole command line of the program. Needs no display. Answers the exit code.
int runExport(int& argc, char** argv);

}  // namespace loom

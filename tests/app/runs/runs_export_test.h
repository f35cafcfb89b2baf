#pragma once
// What leaves the Runs page, by clicks in the real window.

namespace loom {

int testRunsExport(int argc, char** argv);

}  // namespace loom

#pragma once
// A stranger's table, from the CSV that they have to a prediction, by clicks in the real window.

namespace loom {

int testJourney(int argc, char** argv);

}  // namespace loom

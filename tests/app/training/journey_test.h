#pragma once
// From what strangers have to a prediction, by clicks in the real window: tables, sounds; a model of another tool.

namespace loom {

int testJourney(int argc, char** argv);
int testModelJourney(int argc, char** argv);
int testRunLayers(int argc, char** argv);

}  // namespace loom

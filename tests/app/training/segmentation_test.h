#pragma once

namespace loom {

int testSegmentation(int argc, char** argv);

}  // namespace loom

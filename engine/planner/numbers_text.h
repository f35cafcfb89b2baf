#pragma once
// Numbers as people read them in a plan.
#include <cstdint>
#include <initializer_list>
#include <string>

namespace loom {

// Three significant digits: "4.00 MiB".
std::string scaledText(double value, double step, std::initializer_list<const char*> units);
std::string bytesText(std::int64_t count);    // "4.00 MiB"
std::string groupedText(std::int64_t count);  // "61,706"

}  // namespace loom

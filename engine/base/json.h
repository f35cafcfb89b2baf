#pragma once
// JSON with stable key order. Numbers that JSON has no word for are written as text: "nan", "inf", "-inf".
// Include this in .cpp files; headers that only name the type include <nlohmann/json_fwd.hpp> through json_fwd.h.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/base/json_fwd.h"

// Its members are compiled once, in json.cpp: a third of what a file that uses them costs under sanitizers.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace loom {

// Throws Error(badProject or `code`) with the line and column of the fault; refuses duplicate keys, nesting deeper than
// 64 and text that is not UTF-8.
Json parseJson(std::string_view text, const std::string& name);

// A double as JSON: itself, or "nan", "inf", "-inf"; and back (throws Error(badData) for anything else).
Json numberToJson(double value);
double numberFromJson(const Json& value);

// Two spaces of indentation; an array or object of scalars stands on one line where it fits 120 columns (git-friendly).
std::string formatJson(const Json& value);

}  // namespace loom

#pragma once
// Values of properties: literals, the macros of Console (`*Maps`), and arithmetic over shapes and arguments
// (`Input[0]/2`), as values of our fields: a number, or an expression "=...".
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/json.h"
#include "engine/exchange/sdcproj/sdc_file.h"

namespace loom::sdc {

// What names mean where a property stands.
struct Names {
  const Layer* layer = nullptr;                  // whose other properties may be named
  std::map<std::string, std::string> arguments;  // of the unit around it: Console's name -> ours
};

// "16" -> 16, "*Maps" -> "=Maps", "Input[0]/2" -> "=Input[0]/2". Nothing for what has no meaning here
// (`*UnitProperty(Size)`).
std::optional<Json> numberValue(std::string_view text, const Names& names);
// "3,3" -> [3, 3]; "Input[0],1" -> ["=Input[0]", 1]; "*Kernel", an argument that is a list -> "=Kernel".
std::optional<Json> listValue(std::string_view text, const Names& names);
// The commas outside of brackets part a list.
std::vector<std::string> splitList(std::string_view text);

}  // namespace loom::sdc

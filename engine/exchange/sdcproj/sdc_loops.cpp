// Loops along an axis: RecurrentInput, RecurrentOutput, Delay.
#include <fmt/format.h>

#include "engine/catalogue/text.h"
#include "engine/exchange/sdcproj/sdc_layer.h"

namespace loom::sdc {
namespace {

// How many steps there are follows from the sequence where the file does not say it: the drawing sets it (LateShape).
void recurrentInput(Translation& t) {
  t.add("RecurrentInput");
  t.set("axis", t.number("Axis", "0"));
  if (const std::string length = t.text("Length");
      !length.empty() && !length.starts_with("*Input") && length.find('[') == length.npos)
    t.set("length", t.number("Length", "1"));
  t.know("ID");
}

void recurrentOutput(Translation& t) {
  t.add("RecurrentOutput");
  t.set("axis", t.number("Axis", "0"));
  for (const char* key : {"ID", "Length"}) t.know(key);
}

void delay(Translation& t) {
  t.add("Delay");
  const Json shape = t.list("Size", "1");
  t.set("shape", shape);
  const std::string column = t.text("Initial.Dataset");
  const Json made = generatorFields(t, "Initial.");
  t.know("ID");
  if (made.is_object() && made["source"] == "constant") {
    t.set("value", made["value"]);
  } else if (made.is_object()) {
    t.initial = made;
  } else if (!column.empty() && t.text("Initial.Generator", "None") == "None") {
    t.initial = Json{{"variable", column}};
  }
  if (t.initial.is_null()) return;
  t.initial["shape"] = shape;
  t.converted("what it gives at the first step comes from an Input of its own");
}

}  // namespace

const std::map<std::string, Rule>& loopRules() {
  static const std::map<std::string, Rule> rules = {
      {"RecurrentInput", recurrentInput}, {"RecurrentOutput", recurrentOutput}, {"Delay", delay}};
  return rules;
}

}  // namespace loom::sdc

#include "engine/layers/recurrent.h"

#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {

std::vector<Field> recurrentFields() {
  return {{.key = "units",
           .label = "Units",
           .help = "Numbers in the state, and in each output.",
           .type = FieldType::integer,
           .defaultValue = 64,
           .hard = Range{1, 65536},
           .comfortable = Range{1, 4096},
           .important = true},
          {.key = "returns",
           .label = "Returns",
           .help = "What comes out.",
           .type = FieldType::choice,
           .defaultValue = "sequence",
           .choices = {{"sequence", "Sequence", "The state after each step: T × units."},
                       {"last", "Last", "The state after the whole sequence: units."}},
           .important = true},
          {.key = "direction",
           .label = "Direction",
           .help = "Which way the sequence is read.",
           .type = FieldType::choice,
           .defaultValue = "forward",
           .choices = {{"forward", "Forward", "From the first step to the last."},
                       {"backward", "Backward", "From the last step to the first; outputs stay at their steps."},
                       {"both", "Both",
                        "Two sets of weights, one each way; their outputs stand one after the other: 2 · units."}}}};
}

std::vector<Shape> recurrentShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() != 2)
    throw LayerError(fmt::format("the input is {}, but a sequence of steps × channels is wanted, such as 128×64",
                                 parts::shapeText(input)),
                     "");
  const std::int64_t channels =
      arguments.values.integer("units") * (arguments.values.text("direction") == "both" ? 2 : 1);
  if (arguments.values.text("returns") == "last") return {Shape{channels}};
  return {Shape{input[0], channels}};
}

std::vector<TensorId> lowerRecurrent(const LowerArguments& arguments, RunCell run) {
  const std::string direction = arguments.values.text("direction");
  const std::int64_t units = arguments.values.integer("units"), steps = parts::sampleShape(arguments)[0];
  const bool last = arguments.values.text("returns") == "last";
  ProgramBuilder& builder = arguments.builder;
  std::vector<TensorId> outputs;
  const auto oneWay = [&](bool reverse, const std::string& suffix) {
    TensorId output = run(arguments, units, reverse, suffix);
    if (last) {  // a backward pass ends at the first step
      output = builder.add("slice", {output},
                           {{"axis", std::int64_t{1}},
                            {"start", reverse ? std::int64_t{0} : steps - 1},
                            {"length", std::int64_t{1}},
                            {"step", std::int64_t{1}}});
      output = parts::reshaped(arguments, output, Shape{units});
    }
    outputs.push_back(output);
  };
  if (direction != "backward") oneWay(false, "");
  if (direction != "forward") oneWay(true, direction == "both" ? "_backward" : "");
  if (outputs.size() == 1) return outputs;
  return {builder.add("concatenate", outputs, {{"axis", std::int64_t{last ? 1 : 2}}})};
}

}  // namespace loom

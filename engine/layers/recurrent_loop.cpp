// A loop along an axis: RecurrentInput, RecurrentOutput, Delay. flatten() writes the turns out
// (engine/network/flat_loops.cpp); what stands here is what one turn of it is.
#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace recurrent_loop_layers {

Entry inputEntry() {
  Entry entry = parts::completed(
      {.id = "RecurrentInput",
       .category = "recurrentAttention",
       .aliases = {"LoopInput", "ScanInput"},
       .summary = "Begins a loop: gives one step of a sequence after the other to what follows.",
       .help = "What stands between a RecurrentInput and a RecurrentOutput is run once for each step along the axis, "
               "with the same weights at every step: step t sees x without the axis, at place t. A Delay inside "
               "carries a value from one step to the next; that is how an own recurrent cell is drawn. Several "
               "RecurrentInputs of one loop walk along their sequences together and must have one length. What leads "
               "into the loop from elsewhere is the same at every step.\n\n"
               "The steps are written out before training begins, so a loop over 100 steps is as large as 100 copies "
               "of what is drawn. LSTM and GRU do the same in one layer and much faster.\n\n"
               "No parameters.",
       .outputs = {parts::valuesOut("One step: the input without the axis.")}});
  entry.fields = {parts::axisField("Axis along which the steps lie: 0 = the first after the batch.", 0),
                  {.key = "length",
                   .label = "Length",
                   .help = "How many steps: the extent of the axis. A number, or an expression over arguments.",
                   .type = FieldType::integer,
                   .defaultValue = 1,
                   .hard = Range{1, 10000},
                   .unit = "steps",
                   .important = true},
                  {.key = "turn",
                   .label = "Step",
                   .help = "Which step it gives, from 0. The loop itself sets it in each of its copies.",
                   .type = FieldType::integer,
                   .defaultValue = 0,
                   .hard = Range{0, 9999}}};
  return entry;
}

std::vector<Shape> inputShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), input),
                     length = arguments.values.integer("length"), turn = arguments.values.integer("turn");
  if (input[axis] != length)
    throw LayerError(fmt::format("'length' is {}, but axis {} of {} has {} steps", length, axis,
                                 parts::shapeText(input), input[axis]),
                     "length", input[axis]);
  if (turn >= length)
    throw LayerError(fmt::format("'turn' is {}, but the last of {} steps is {}", turn, length, length - 1), "turn", 0);
  std::vector<std::int64_t> extents = input.extents();
  extents.erase(extents.begin() + axis);
  if (extents.empty()) extents.push_back(1);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lowerInput(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), input);
  const TensorId step = arguments.builder.add("slice", {arguments.inputs[0]},
                                              {{"axis", axis + 1},
                                               {"start", arguments.values.integer("turn")},
                                               {"length", std::int64_t{1}},
                                               {"step", std::int64_t{1}}});
  return {parts::reshaped(arguments, step, inputShapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

Entry outputEntry() {
  Entry entry = parts::completed(
      {.id = "RecurrentOutput",
       .category = "recurrentAttention",
       .aliases = {"LoopOutput", "ScanOutput"},
       .summary = "Ends a loop: puts what all steps gave one behind the other along an axis.",
       .help =
           "The result has one axis more, as long as the loop has steps: a step that gives 20 values in a loop of 9 "
           "steps gives 9×20 along axis 0. For the last step alone put a Slice with start −1 and length 1 and a "
           "Squeeze behind it.\n\n"
           "No parameters.",
       .inputs = {parts::valuesIn("What one step gives.")},
       .outputs = {parts::valuesOut("All steps along the new axis.")}});
  entry.fields = {{.key = "axis",
                   .label = "Axis",
                   .help = "Place of the new axis in the result: 0 = the first after the batch, −1 = the last.",
                   .type = FieldType::integer,
                   .defaultValue = 0,
                   .hard = Range{-8, 7},
                   .important = true}};
  return entry;
}

std::vector<Shape> outputShapes(const ShapeArguments& arguments) {
  const auto rank = static_cast<std::int64_t>(arguments.inputs[0].rank()) + 1, asked = arguments.values.integer("axis"),
             axis = asked < 0 ? asked + rank : asked;
  if (rank > 7 || axis < 0 || axis >= rank)
    throw LayerError(fmt::format("'axis' is {}, but the result has {} axes ({} to {}; at most 7 are possible)", asked,
                                 rank, -rank, rank - 1),
                     "axis", 0);
  std::vector<std::int64_t> extents = arguments.inputs[0].extents();
  extents.insert(extents.begin() + axis, 1);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lowerOutput(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  return {
      parts::reshaped(arguments, arguments.inputs[0], outputShapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

Entry delayEntry() {
  Entry entry = parts::completed(
      {.id = "Delay",
       .category = "recurrentAttention",
       .aliases = {"PreviousStep", "LoopState"},
       .summary = "In a loop: what came in at the step before.",
       .help = "At step t of a loop between RecurrentInput and RecurrentOutput it gives what was led to it at step "
               "t − 1; at the first step the Initial input, or Value everywhere where none is wired. A wire may go "
               "from a Delay through layers back to it: that is the state of a recurrent cell.\n\n"
               "No parameters.",
       .inputs = {{.key = "input", .label = "Input", .help = "What is given at the next step.", .optional = true},
                  {.key = "initial", .label = "Initial", .help = "What is given at the first step.", .optional = true}},
       .outputs = {parts::valuesOut("The value of the step before.")}});
  entry.fields = {{.key = "shape",
                   .label = "Shape",
                   .help = "Extents of one sample of what it carries.",
                   .type = FieldType::shape,
                   .defaultValue = Json::array({1}),
                   .hard = Range{1, 2147483647},
                   .important = true},
                  parts::numberField("value", "Value", "What it gives at the first step where no Initial is wired.",
                                     0.0, Range{-1e30, 1e30})};
  return entry;
}

std::vector<Shape> delayShapes(const ShapeArguments& arguments) {
  const Shape shape(arguments.values.integers("shape"));
  for (const Shape& input : arguments.inputs)
    if (input.rank() > 0 && input != shape)
      throw LayerError(
          fmt::format("'shape' is {}, but what is led to it is {}", parts::shapeText(shape), parts::shapeText(input)),
          "shape", input.extents());
  return {shape};
}

std::vector<TensorId> lowerDelay(const LowerArguments& arguments) {
  if (!arguments.inputs.empty() && arguments.inputs[0] != kNoTensor) return {arguments.inputs[0]};
  return {arguments.builder.constant(arguments.values.real("value"),
                                     parts::withBatch(arguments, Shape(arguments.values.integers("shape"))))};
}

}  // namespace recurrent_loop_layers

const LayerDefinition& defineRecurrentInputLayer() {
  using namespace recurrent_loop_layers;
  static const LayerDefinition definition{inputEntry(), inputShapes, lowerInput};
  return definition;
}

const LayerDefinition& defineRecurrentOutputLayer() {
  using namespace recurrent_loop_layers;
  static const LayerDefinition definition{outputEntry(), outputShapes, lowerOutput};
  return definition;
}

const LayerDefinition& defineDelayLayer() {
  using namespace recurrent_loop_layers;
  static const LayerDefinition definition{delayEntry(), delayShapes, lowerDelay};
  return definition;
}

}  // namespace loom

#include "engine/training/image_input.h"

#include "engine/ops/image_preparation.h"
#include "engine/program/builder.h"

namespace loom {
namespace {

ImagePreparation described(const Preparation& preparation, std::uint64_t seed) {
  ImagePreparation made{.steps = preparation.steps(),
                        .borders = {},
                        .scale = preparation.scale(),
                        .shift = preparation.shift(),
                        .seed = seed,
                        .rows = preparation.shape()[1],
                        .columns = preparation.shape()[2]};
  for (const std::vector<float>& border : preparation.borders()) {
    std::vector<float> values = border;
    values.resize(made.scale.size());
    made.borders.insert(made.borders.end(), values.begin(), values.end());
  }
  return made;
}

}  // namespace

bool comesAsBytes(const Variable& variable) {
  return variable.kind == VariableKind::image && variable.type == DataType::u8 && !variable.varying() &&
         variable.shape.rank() == 3;
}

void takeBytes(Program& program, TensorId input, const Variable& variable, const Preparation& preparation,
               std::uint64_t seed) {
  ProgramBuilder builder(std::move(program));
  const std::string name = builder.tensor(input).name;
  const std::int64_t batch = builder.shape(input)[0];
  builder.program().tensors[static_cast<std::size_t>(input)].role = TensorRole::intermediate;
  const Shape& stored = variable.shape;
  const TensorId bytes = builder.input(name, {batch, stored[0], stored[1], stored[2]}, DataType::u8),
                 samples = builder.input(kSamplesInput, {batch, 2}, DataType::i64);
  builder.setOrigin(name);
  TensorId prepared = builder.add("prepare_images", {bytes, samples}, attributesOf(described(preparation, seed)));
  const Shape wanted = builder.shape(input);
  if (builder.shape(prepared) != wanted) prepared = builder.add("reshape", {prepared}, {{"shape", wanted.extents()}});
  program = builder.take();
  // In front of all that reads it, and under the id by which it is read.
  const std::ptrdiff_t added = program.operations.back().op->isView ? 2 : 1;
  program.operations.back().outputs[0] = input;
  std::rotate(program.operations.begin(), program.operations.end() - added, program.operations.end());
}

}  // namespace loom

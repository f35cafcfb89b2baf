#include "engine/comm/reductions/reduction.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/comm/reductions/messages.h"

namespace loom {

void Reduction::add(int, TensorSpans values, std::span<float> sum) {
  for (const std::span<float> tensor : values) {
    addTo(sum.first(tensor.size()), tensor);
    sum = sum.subspan(tensor.size());
  }
}

std::string ReductionRefusal::sentence() const {
  std::string capital = text;
  if (!capital.empty() && capital[0] >= 'a' && capital[0] <= 'z')
    capital[0] = static_cast<char>(capital[0] - 'a' + 'A');
  return capital;
}

std::int64_t ReductionShape::bytes() const {
  return static_cast<std::int64_t>(floats) * (wire == Wire::f32 ? 4 : 2);
}

const ReductionDefinition* findReduction(std::string_view name) {
  for (const ReductionDefinition* row : reductionTable())
    if (row->entry.id == name) return row;
  return nullptr;
}

ReductionChoice reductionIn(const Json& settings) {
  ReductionChoice choice;
  if (const auto name = settings.find("reduction"); name != settings.end() && name->is_string())
    choice.name = name->get<std::string>();
  for (const ReductionDefinition* row : reductionTable())
    for (const Field& field : row->entry.fields)
      if (const auto given = settings.find(field.key); given != settings.end()) choice.values[field.key] = *given;
  return choice;
}

const ReductionDefinition& reductionOf(const ReductionChoice& choice, Wire wire, bool deterministic) {
  const std::string name = choice.name != "automatic" ? choice.name
                           : deterministic            ? "tree"
                           : wire != Wire::f32        ? "direct"
                                                      : "host_memory";
  if (const ReductionDefinition* row = findReduction(name)) return *row;
  std::vector<std::string> names;
  for (const ReductionDefinition* row : reductionTable()) names.push_back(row->entry.id);
  const std::string near = nearest(name, names);
  throwError(ErrorCode::badProject, "training: there is no reduction '{}'{}", name,
             near.empty() ? "" : fmt::format(": did you mean '{}'?", near));
}

std::optional<ReductionRefusal> refusalOf(const ReductionChoice& choice, int ranks, Wire wire, bool deterministic) {
  if (deterministic && wire != Wire::f32)
    return ReductionRefusal{fmt::format("a deterministic run has the same bits on any number of ranks, which the wire "
                                        "{} cannot carry; set wire to f32",
                                        toString(wire)),
                            "wire", "f32"};
  const ReductionDefinition& row = reductionOf(choice, wire, deterministic);
  if (deterministic && !row.exact)
    return ReductionRefusal{
        fmt::format("a deterministic run has the same bits on any number of ranks, but the "
                    "reduction {} adds in an order that depends on them; set reduction to automatic",
                    row.entry.id),
        "reduction", "automatic"};
  if (wire != Wire::f32 && !row.carriesSixteenBits)
    return ReductionRefusal{fmt::format("the reduction {} adds on its way, which 16 bits cannot carry; set reduction "
                                        "to automatic, or wire to f32",
                                        row.entry.id),
                            "reduction", "automatic"};
  return row.refuse ? row.refuse(ranks, choice.values) : std::nullopt;
}

ReductionCost costOf(const ReductionDefinition& row, const ReductionShape& shape) {
  ReductionCost cost;
  for (const ReductionPhase& phase : row.phases(shape)) cost.steps += phase.steps;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const std::int64_t bytes = row.sent(shape, rank).bytes;
    cost.bytes = std::max(cost.bytes, bytes);
    cost.total += bytes;
  }
  return cost;
}

double secondsOf(const ReductionDefinition& row, const ReductionShape& shape) {
  double seconds = 0;
  for (const ReductionPhase& phase : row.phases(shape)) {
    const bool inside = shape.perHost == 0 || (phase.within <= shape.perHost && shape.perHost % phase.within == 0);
    const Link& link = inside ? shape.links.within : shape.links.between;
    seconds += static_cast<double>(phase.steps) * link.delay + static_cast<double>(phase.bytes) / link.bandwidth;
  }
  return seconds;
}

std::vector<Field> reductionFields() {
  Field choice{
      .key = "reduction",
      .label = "Summed by",
      .help =
          "How ranks add up their gradients: the topology of the all-reduce. All give every rank the same bits; they "
          "differ in messages "
          "and bytes, and in the last bits of the sum. loom bench allreduce measures them.",
      .type = FieldType::choice,
      .defaultValue = "automatic",
      .choices = {{"automatic", "Automatic",
                   "Through the memory of a host and the library between hosts; directly over 16-bit wires; in "
                   "a fixed tree where the run is deterministic."}}};
  std::vector<Field> fields;
  for (const ReductionDefinition* row : reductionTable()) {
    choice.choices.push_back({row->entry.id, row->entry.label, row->entry.summary});
    for (Field field : row->entry.fields) {
      field.onlyWhen = "reduction=" + row->entry.id;
      fields.push_back(std::move(field));
    }
  }
  fields.insert(fields.begin(), std::move(choice));
  return fields;
}

}  // namespace loom

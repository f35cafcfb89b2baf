// The two-dimensional torus (Mikami et al. 2018): a reduce-scatter along rows, an all-reduce of a row's part along
// columns, an all-gather along rows.
#include <fmt/format.h>

#include <algorithm>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/collectives.h"

namespace loom {
namespace {

int givenColumns(const Json& values) {
  const auto given = values.find("torus_columns");
  return given != values.end() && given->is_number_integer() ? given->get<int>() : 0;
}

// Ranks of a row: as given; else the ranks of a host, where there are several hosts; else the divisor nearest to a
// square, rows the longer side, since a row carries more. 1: a prime.
int columnsOf(const ReductionShape& shape) {
  if (const int given = givenColumns(shape.values); given > 0) return given;
  if (shape.perHost > 1 && shape.perHost < shape.ranks && shape.ranks % shape.perHost == 0) return shape.perHost;
  int rows = 1;
  for (int d = 2; d <= shape.ranks / d; ++d)
    if (shape.ranks % d == 0) rows = d;
  return rows == 1 ? 1 : shape.ranks / rows;
}

class Torus final : public Reduction {
 public:
  Torus(Communicator& ranks, const ReductionShape& most) {
    const int columns = columnsOf(most), rank = ranks.rank();
    m_row = ranks.split(rank / columns, rank);
    m_column = ranks.split(rank % columns, rank);
    m_whole.resize(padded(most.floats, columns));
    m_part.resize(m_whole.size() / static_cast<std::size_t>(columns));
  }

  void finish(std::span<float> sum) override {
    const int columns = m_row->size();
    const std::span<float> whole = std::span(m_whole).first(padded(sum.size(), columns));
    const std::span<float> part = std::span(m_part).first(whole.size() / static_cast<std::size_t>(columns));
    std::fill(std::copy(sum.begin(), sum.end(), whole.begin()), whole.end(), 0.0f);
    m_row->reduceScatter(whole, part);
    m_column->sumInParts(part);
    m_row->allGather(std::as_bytes(part), std::as_writable_bytes(whole));
    std::copy_n(whole.begin(), sum.size(), sum.begin());
  }

 private:
  std::unique_ptr<Communicator> m_row, m_column;
  std::vector<float> m_whole, m_part;
};

std::optional<ReductionRefusal> refuseTorus(int ranks, const Json& values) {
  if (ranks == 1) return std::nullopt;
  if (const int given = givenColumns(values); given > 0) {
    if (ranks % given == 0) return std::nullopt;
    return ReductionRefusal{fmt::format("{} ranks do not make rows of {}; set torus_columns to a divisor of {}, or to "
                                        "0 for the nearest to a square",
                                        ranks, given, ranks),
                            "torus_columns", 0};
  }
  if (columnsOf({.ranks = ranks}) > 1) return std::nullopt;
  return ReductionRefusal{
      fmt::format("a torus of {} ranks has no rows and columns, since {} is a prime; start {} ranks, "
                  "or set reduction to ring",
                  ranks, ranks, ranks == 2 ? 4 : ranks + 1),
      "reduction", "ring"};
}

std::vector<ReductionPhase> torusPhases(const ReductionShape& shape) {
  const int columns = columnsOf(shape), rows = shape.ranks / columns;
  const std::int64_t part = 4 * static_cast<std::int64_t>(padded(shape.floats, columns)) / columns;
  return {scatterOrGather("reduce-scatter in rows", "reduce-scatter", rows, columns, part, columns),
          allReducePhase("along columns", columns, rows, part, shape.ranks),
          scatterOrGather("all-gather in rows", "all-gather", rows, columns, part, columns)};
}

}  // namespace

const ReductionDefinition& defineTorusReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "torus";
    made.entry.label = "2D torus";
    made.entry.category = "reduction";
    made.entry.aliases = {"torus", "2D-Torus"};
    made.entry.summary = "Rows and columns: a ring's bytes in far fewer steps.";
    made.entry.help =
        "Of X × Y ranks: a reduce-scatter in rows of X, an all-reduce of the part in columns of Y, an all-gather in "
        "rows. 2(X − 1) + 2(Y − 1) steps and 2S(p − 1)/p bytes a rank, of which columns carry an X-th (Mikami et al. "
        "2018). It pays on many ranks, with hosts as rows.";
    made.entry.fields = {{.key = "torus_columns",
                          .label = "Ranks of a row",
                          .help =
                              "Consecutive ranks that form a row; a divisor of the number of ranks. 0: the ranks of "
                              "a host, or what is nearest to a square.",
                          .type = FieldType::integer,
                          .defaultValue = 0,
                          .hard = Range{0, 65536},
                          .unit = "ranks"}};
    made.refuse = refuseTorus;
    made.phases = torusPhases;
    made.sent = [](const ReductionShape& shape, int) { return sentIn(torusPhases(shape)); };
    made.make = makeReduction<Torus>;
    return made;
  }();
  return row;
}

}  // namespace loom

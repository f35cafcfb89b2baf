#pragma once
// How gradients are added up over ranks: each way is a row of a table, in a file of its own. A row says what it is
// (entry, help, exact or not), what it sends (phases, messages and bytes, by its formula) and does it. Rows know no
// library: whatever they send goes through a Communicator. So the window, which knows no machine, may read them.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/comm/wire.h"

namespace loom {

class Communicator;

// Gradients of some tensors, which travel together.
using TensorSpans = std::span<const std::span<float>>;

// Made and used by all ranks of a communicator in the same order, by one thread at a time. Memory is taken when it is
// made, not in finish(). Throws Error(communication).
class Reduction {
 public:
  virtual ~Reduction() = default;
  // Whether each shard must go through add(), because the sum depends on it; else a rank may add up its shards as it
  // computes them.
  virtual bool addsShards() const { return false; }
  // A shard of this rank goes into the rank's own `sum`, which begins as zeros and holds the tensors one behind the
  // other. Shards ascend; one that adds shards has one sum at a time.
  virtual void add(int shard, TensorSpans values, std::span<float> sum);
  // What the ranks have in `sum` is added up over all of them, in place, with the same bits on every rank.
  virtual void finish(std::span<float> sum) = 0;
  // Where it chose a way by the size of the sum: which, and how long it should take.
  struct Choice {
    std::string name;
    double seconds = 0;
  };
  virtual std::optional<Choice> chosenFor(std::size_t) const { return std::nullopt; }
};

// A way between two ranks.
struct Link {
  double delay = 0;      // seconds of the smallest message, one way
  double bandwidth = 1;  // bytes a second, one way
};
// What is taken where nothing was measured: two cores of a host, two hosts on 10 gigabits a second.
struct Links {
  Link within{2e-6, 5e9};       // a host
  Link between{30e-6, 1.25e9};  // hosts
};

// What is to be added, as far as a row's formulas and its memory depend on it.
struct ReductionShape {
  int ranks = 1;
  std::size_t floats = 0;  // of one sum; when it is made, the most of any
  Wire wire = Wire::f32;
  int shards = 1;                // of all ranks; rank r has [shards r / ranks, shards (r + 1) / ranks)
  int perHost = 0;               // consecutive ranks that share a host; 0 = all of them
  Links links{};                 // where the choice of a way, or a prediction, depends on them
  Json values = Json::object();  // of the fields of `training`, those of the row among them

  std::int64_t bytes() const;  // of one sum on the wire
};

// A part of a sum behind which the next one begins.
struct ReductionPhase {
  std::string name;        // "reduce-scatter in rows"
  std::string call;        // the library's collective ("all-reduce"); empty: messages that the row sends itself
  int groups = 1;          // that do this at the same time
  int ranks = 1;           // of each group, of the largest where they differ
  std::int64_t steps = 0;  // messages that follow one another; of a library's collective, as in a ring
  std::int64_t bytes = 0;  // that pass the busiest rank of a group one way
  int within = 1;          // messages stay within blocks of so many consecutive ranks
};

// What one rank sends for one sum; in a library's collective, as in a ring.
struct RankTraffic {
  std::int64_t messages = 0, bytes = 0;
};

// Why it cannot be, with what to set instead.
struct ReductionRefusal {
  std::string text;     // "a torus of 7 ranks has no rows and columns, ...; set reduction to ring"
  std::string setting;  // of `training`
  Json value;
  std::string sentence() const;  // the text with a capital letter
};

struct ReductionDefinition {
  Entry entry;  // its fields are settings of `training`, read only while it is chosen
  // The same bits for any number of ranks, from the same shards; so it must see each. (On every rank all have the
  // same.)
  bool exact = false;
  bool carriesSixteenBits = false;  // wires of 16 bits
  // For so many ranks; null: any number.
  std::optional<ReductionRefusal> (*refuse)(int ranks, const Json& values) = nullptr;
  std::vector<ReductionPhase> (*phases)(const ReductionShape& shape);
  RankTraffic (*sent)(const ReductionShape& shape, int rank);
  std::unique_ptr<Reduction> (*make)(Communicator& communicator, const ReductionShape& most);
};

template <class Way>
std::unique_ptr<Reduction> makeReduction(Communicator& communicator, const ReductionShape& most) {
  return std::make_unique<Way>(communicator, most);
}

std::span<const ReductionDefinition* const> reductionTable();
const ReductionDefinition* findReduction(std::string_view name);

// As `training` has it: the name of a row, or "automatic", with the fields of rows.
struct ReductionChoice {
  std::string name = "automatic";
  Json values = Json::object();
};
// Of the settings of a training; automatic where they name none.
ReductionChoice reductionIn(const Json& settings);
// The row that is meant: automatic is the fixed tree in a deterministic run, the direct exchange over 16 bits, else the
// hosts' memory. Throws Error(badProject) for an unknown name.
const ReductionDefinition& reductionOf(const ReductionChoice& choice, Wire wire, bool deterministic);
// Why this choice cannot be with so many ranks; none: it can.
std::optional<ReductionRefusal> refusalOf(const ReductionChoice& choice, int ranks, Wire wire, bool deterministic);

// What a row sends in all: the steps of its phases, the bytes of the rank that sends the most, and of all.
struct ReductionCost {
  std::int64_t steps = 0, bytes = 0, total = 0;
};
ReductionCost costOf(const ReductionDefinition& row, const ReductionShape& shape);
// Seconds that it takes where nobody waits: each phase its steps' delays and its bytes, over the slowest of its links.
double secondsOf(const ReductionDefinition& row, const ReductionShape& shape);

// The fields of `training` that choose among them: `reduction` and those of the rows.
std::vector<Field> reductionFields();

}  // namespace loom

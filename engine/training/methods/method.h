#pragma once
// What happens around a rule: before a step's gradients (perturbation), to them (gradients), behind its update
// (afterwards). Each way is a row of a table, in a file of its own; a training has at most one of each place. A row
// says what it is (entry, help), what it costs in memory and arithmetic, with what it cannot be, and makes what does
// it. Rows know no training and no machine: they work on the weights in the store, in place where these are the host's,
// else by copies. Plain synchronous training has none of them.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/optimizers/evaluated.h"
#include "engine/program/parameter_store.h"

namespace loom {

enum class MethodPlace { perturbation, gradients, afterwards };

// What a method works on: the weights that one update changes. `store` must outlive it.
struct MethodWeights {
  ParameterStore& store;
  std::vector<std::string> names;  // of the weights
  int update = 0;                  // its place in `training`: keeps slots of two updates on one weight apart
  std::uint64_t seed = 1;
  double epochs = 0;  // of the whole run
};

// Where a training stands behind an update that was made.
struct MethodProgress {
  std::int64_t updates = 0;  // made so far
  double epoch = 0;          // done
};

// One update's, between two steps of which weights are those of the run. All ranks make and call it alike, so whatever
// it decides follows from what all of them have: summed gradients, weights, seed. One thread.
class UpdateMethod {
 public:
  virtual ~UpdateMethod() = default;

  virtual void begin(std::int64_t /*step*/) {}      // of the training, from 0
  virtual void beforeShard(int /*logicalRank*/) {}  // before each of this rank's shards
  // The step's gradients stand in the store, summed over all ranks. True: weights were moved, and the gradients are
  // computed once more there (as MethodCost::computes tells).
  virtual bool again() { return false; }
  // The gradients are the step's: weights stand again where it began. Also where it is given up.
  virtual void gradientsDone() {}
  // Whether the rule runs on them; false: there is nothing to apply yet.
  virtual bool applies() const { return true; }
  virtual void updated(const MethodProgress&) {}

  // What is to be evaluated in place of each weight; none: the weight.
  virtual std::optional<EvaluatedFrom> evaluated() const { return std::nullopt; }
  // What a resumed run needs beside the slots; null: nothing.
  virtual Json state() const { return nullptr; }
  virtual void restore(const Json&) {}
};

struct MethodCost {
  int slots = 0;     // numbers for each weight in the store and in checkpoints
  int copies = 0;    // numbers for each weight in the host's memory while it trains
  int computes = 1;  // times that a step computes its gradients and exchanges them
};

// Why it cannot be, with what to set instead.
struct MethodRefusal {
  std::string text;     // "SAM needs ...; set gradients to synchronous"
  std::string setting;  // of `training`
  Json value;
};

// What it is chosen together with.
struct MethodCompany {
  const Json& settings;  // of `training`
  bool has(const char* key, std::string_view value) const;
  bool isOn(const char* key) const;
  std::vector<std::string> evaluates;  // ids of chosen rules that have weights to evaluate of their own
};

struct MethodDefinition {
  Entry entry;  // its fields are settings of `training`, read only while it is chosen
  MethodPlace place = MethodPlace::afterwards;
  std::vector<std::string> slots;  // that it makes in the store
  std::string keeps;               // what these are, for sentences: "Lookahead's slow weights"
  bool slotsBeginAsWeights = false;
  bool delays = false;  // gradients are those of the step before: the exchange has a step's time for them
  MethodCost (*cost)(const Json& values);
  // Null: nothing is in its way.
  std::optional<MethodRefusal> (*refuse)(const MethodCompany& company) = nullptr;
  std::unique_ptr<UpdateMethod> (*make)(const Values& values, const MethodWeights& weights);
};

std::span<const MethodDefinition* const> methodTable();
const MethodDefinition* findMethod(std::string_view id);

// As `training` has it, in the order of places.
struct MethodChoice {
  const MethodDefinition* row;
  Json values = Json::object();  // of its fields
};
// Names that nobody knows are left to the check of the settings.
std::vector<MethodChoice> methodsIn(const Json& settings);
// Of all of them.
MethodCost methodCost(const Json& settings);
// The first reason why the chosen ones cannot be; none: they can.
std::optional<MethodRefusal> refusedMethods(const MethodCompany& company);

// The fields of `training` that choose them: one a place, each with those of its rows behind it.
std::vector<Field> methodFields();
// The key of a place's field.
const char* settingOf(MethodPlace place);

// The name of a slot for an update.
std::string methodSlot(const std::string& slot, int update);

// `work` on the numbers of a tensor, as the host sees them; they are changed.
template <class Work>
void changeTensor(StoredTensor& tensor, const Work& work) {
  if (tensor.isHost()) {
    work(tensor.host());
    tensor.changed();
    return;
  }
  std::vector<float> values = tensor.values();
  work(std::span<float>(values));
  tensor.write(values);
}

// The same, to look at.
class SeenTensor {
 public:
  explicit SeenTensor(const StoredTensor& tensor) {
    if (tensor.isHost())
      m_values = tensor.host();
    else
      m_values = m_copy = tensor.values();
  }
  SeenTensor(const SeenTensor&) = delete;
  SeenTensor& operator=(const SeenTensor&) = delete;
  std::span<const float> operator*() const { return m_values; }

 private:
  std::vector<float> m_copy;
  std::span<const float> m_values;
};

}  // namespace loom

#pragma once
// From rows to the batches of a step: shuffles, prepares (normalise, crop, flip ...), converts, and stays ahead in the
// background. Order and random preparation are functions of (seed, epoch, sample index) alone.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/data/dataset.h"

namespace loom {

// The steps of `prepare`: those on the columns of the CSV (category "columns": columns/column_step.h), then those on
// samples: Scale, Normalise, Crop, Pad, Flip, ... with random ones marked by category "random".
std::vector<const Entry*> prepareEntries();

// The shape that `variable` has after preparation. Throws Error(badProject).
Shape preparedShape(const Variable& variable, const std::vector<Json>& prepare);

// Whether the step is a Normalise that applies to the variable. False for a faulty step.
bool normalises(const Json& step, const Variable& variable);

struct LoaderColumn {
  std::string variable;           // of the dataset
  Shape shape;                    // of one sample, as the network's Input wants it; the same number of elements
  DataType type = DataType::f32;  // f32, or i32 for labels and indices; u8: bytes as they are stored, not prepared
};

struct LoaderOptions {
  std::vector<LoaderColumn> columns;
  std::vector<Json> prepare;
  std::int64_t batch = 1;
  bool shuffle = true;
  bool random = true;     // false: random preparation steps are left out (validation)
  bool dropLast = false;  // false: the last batch of an epoch may be smaller
  std::uint64_t seed = 1;
  std::int64_t epoch = 0;   // where to begin: resume
  std::int64_t sample = 0;  // samples of that epoch already used
  int prefetch = 2;         // batches ahead
  int threads = 1;
  // Of each batch of B samples only [B · partBegin / parts, B · partEnd / parts) are read: what a rank of a larger job
  // computes.
  std::int64_t parts = 1, partBegin = 0, partEnd = 1;
};

struct Batch {
  std::int64_t epoch = 0;
  std::int64_t first = 0;  // place of its first sample in the epoch's order
  std::int64_t size = 0;
  bool lastOfEpoch = false;
  std::int64_t partFirst = 0,
               partSize = 0;  // the samples of the batch that were read: all, unless LoaderOptions has parts
  std::vector<std::span<const std::byte>> columns;  // as LoaderOptions::columns, row-major, N first; of the part
  std::vector<std::int64_t> rows;                   // of the dataset; of the part
};

class Loader {
 public:
  virtual ~Loader() = default;
  // Valid until the next call. Rethrows what a background thread met, with row and column.
  virtual const Batch& next() = 0;
  // Seconds that next() waited since it was last asked for batches that were not there yet; that other work has the
  // processor when a batch is there does not count.
  virtual double waited() = 0;
  // From the next call on (batch-size control). Throws as makeLoader() for a batch that cannot be.
  virtual void setBatch(std::int64_t batch) = 0;
};

std::unique_ptr<Loader> makeLoader(std::shared_ptr<const Dataset> dataset, LoaderOptions options);

}  // namespace loom

#pragma once
// From a dataset to the inputs of networks: which column each Input takes, one loader for all networks that read the
// dataset, and the copy of a shard's rows into an executable.
#include <memory>
#include <string>
#include <vector>

#include "engine/data/loader.h"
#include "engine/network/project.h"
#include "engine/program/backend.h"

namespace loom {

struct FeedOptions {
  std::string name;           // of the dataset, for messages
  std::vector<Json> prepare;  // resolved (measurePrepare)
  std::int64_t batch = 1;
  bool shuffle = true;
  bool random = true;
  bool dropLast = false;
  std::uint64_t seed = 1;
  int threads = 1;
  std::int64_t parts = 1, partBegin = 0, partEnd = 1;  // this rank's share of each batch (LoaderOptions)
};

class Feed {
 public:
  // An input of a network and the place of its values in a batch; kSamplesInput has none.
  struct Binding {
    std::string input;
    std::size_t column;
    std::size_t bytesPerSample;
  };

  Feed(std::shared_ptr<const Dataset> dataset, FeedOptions options);

  // The CSV variable that an Input takes: its field `variable`, or its own id.
  static std::string variableOf(const Network& network, const std::string& input);
  // Makes the images among the program's inputs come as bytes (image_input.h), where the dataset holds bytes.
  void takeBytes(const Network& network, Program& program) const;
  // Before start(). Throws Error(badData) naming network, input and dataset when a variable is missing or of another
  // size.
  std::vector<Binding> bind(const Network& network, const Program& program);
  void start(std::int64_t epoch, std::int64_t sample);
  bool started() const { return m_loader != nullptr; }

  // The next batch; it stays current until the next call.
  const Batch& next();
  const Batch& current() const { return *m_batch; }
  // Makes the batch that began there the current one again; it is read anew where it is not.
  void goBack(std::int64_t epoch, std::int64_t first);
  // Rows [first, first + count) of the current batch, within this rank's part, into the inputs.
  void fill(Executable& executable, const std::vector<Binding>& bindings, std::int64_t first, std::int64_t count) const;
  // Where the batch after the current one begins: what start() wants to go on from here.
  std::int64_t nextEpoch() const { return m_epoch; }
  std::int64_t nextSample() const { return m_sample; }

  std::int64_t size() const { return m_dataset->size(); }
  // Samples of an epoch that are used (fewer than size() when the last batch is dropped), and batches.
  std::int64_t samplesPerEpoch() const { return samplesPerEpoch(m_options.batch); }
  std::int64_t stepsPerEpoch() const { return stepsPerEpoch(m_options.batch); }
  // Samples of the smallest batch, the last of an epoch perhaps.
  std::int64_t smallestBatch() const { return smallestBatch(m_options.batch); }
  // The same with another batch.
  std::int64_t samplesPerEpoch(std::int64_t batch) const;
  std::int64_t stepsPerEpoch(std::int64_t batch) const;
  std::int64_t smallestBatch(std::int64_t batch) const;
  double waited() { return m_loader ? m_loader->waited() : 0; }
  void setBatch(std::int64_t batch);
  std::int64_t batch() const { return m_options.batch; }
  const Dataset& dataset() const { return *m_dataset; }
  const FeedOptions& options() const { return m_options; }

 private:
  std::shared_ptr<const Dataset> m_dataset;
  FeedOptions m_options;
  std::vector<LoaderColumn> m_columns;
  std::unique_ptr<Loader> m_loader;
  const Batch* m_batch = nullptr;
  std::int64_t m_epoch = 0, m_sample = 0;
};

}  // namespace loom

#pragma once
// The datasets of a project, opened once each, with their preparation resolved: mean and deviation measured on the
// training set.
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/dataset.h"
#include "engine/network/project.h"

namespace loom {

struct OpenedDataset {
  std::string name;
  std::filesystem::path csv;  // absolute
  std::shared_ptr<const Dataset> data;
  std::vector<Json> prepare;  // resolved: the steps on columns that its samples were made by, then those on samples
  CsvFormatChoice format{};   // of the CSV
};

struct ProjectDataOptions {
  std::filesystem::path folder;  // where relative CSV paths begin
  int threads = 0;
  const std::atomic<bool>* stop = nullptr;  // while the cache is built: Error(stopped)
  std::function<void(const std::string& dataset, const CacheProgress&)> progress;
  std::function<void(const std::string& dataset, const std::string& sentence)>
      warn;                                           // noticed while steps were measured
  std::map<std::string, std::vector<Json>> prepared;  // what a run resolved before (run.json): not measured again
};

class ProjectData {
 public:
  ProjectData(const Project& project, ProjectDataOptions options) : m_project(project), m_options(std::move(options)) {}

  // `trained`: the dataset whose preparation holds when this one has none of its own; empty = this one. Errors gain the
  // name.
  const OpenedDataset& open(const std::string& name, const std::string& trained = {});
  const std::map<std::string, OpenedDataset>& opened() const { return m_opened; }
  // "csv", "rows", "bytes", "modified", "content" (Dataset::contentHash()), "prepare", and where there are some
  // "classes" (words by variable), "rates" (of sounds, by variable) and "percents" (columns of the file that are
  // written so) of each: what a run was trained on.
  Json facts() const;

 private:
  void needSamePercents(const DatasetSpec& spec, const std::filesystem::path& csv, const std::vector<Json>& steps,
                        const std::string& trained) const;
  // The steps that hold for it: those that a run resolved before, its own, or those of the dataset that is trained on.
  std::vector<Json> stepsOf(const DatasetSpec& spec, const std::string& trained);
  const Project& m_project;
  ProjectDataOptions m_options;
  std::map<std::string, OpenedDataset> m_opened;
};

}  // namespace loom

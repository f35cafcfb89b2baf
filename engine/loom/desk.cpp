#include "engine/loom/desk.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "engine/base/error.h"
#include "engine/program/backend.h"

namespace loom {

void RunArguments::declare(CLI::App& verb) {
  verb.add_option("RUN", run, "The run's folder")->required();
  verb.add_option("--checkpoint", which, "best (where there is one) or last")->check(CLI::IsMember({"best", "last"}));
  verb.add_option("--device", device, "auto, cpu, cuda or reference")
      ->check(CLI::IsMember({"auto", "cpu", "cuda", "reference"}));
}

void RunArguments::declareSamples(CLI::App& verb, const char* words) {
  CLI::Option* named = verb.add_option("--dataset", dataset, "One of the project's; by default the validation set");
  CLI::Option* parts = verb.add_option("--part", part, "validation or training: the run's own samples")
                           ->check(CLI::IsMember({"validation", "training"}))
                           ->excludes(named);
  verb.add_option("--data", data, words)->excludes(named)->excludes(parts);
}

std::string RunArguments::datasetOf(const TrainedNetwork& trained) const {
  if (part.empty()) return dataset;
  if (part == "training") return trained.trainedOn();
  if (trained.usualDataset() == trained.trainedOn() && trained.run().description().project.training.validation.empty())
    throwError(ErrorCode::badProject,
               "the run was trained without a validation set: name --part training, or another file by --data");
  return trained.usualDataset();
}

TrainedNetwork& Desk::network(const RunArguments& given, const std::string& run) {
  if (!m_session.runs && !m_own) m_own.emplace(m_session.stop);
  return (m_session.runs ? *m_session.runs : *m_own).get(run, whichWeights(given.which), given.device);
}

void Desk::say(std::string_view text) {
  if (m_session.say) return m_session.say(text);
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) throw std::system_error(errno, std::generic_category());
}

std::string saidOf(const PredictedOutput& output, const std::vector<float>& values, std::size_t most) {
  std::string text;
  std::vector<ClassShare> shares = classShares(output, values);
  shares.resize(std::min(shares.size(), most));
  for (const ClassShare& each : shares)
    text += fmt::format("{}{} {:.2f} %", text.empty() ? "" : ", ", each.name, 100 * each.share);
  if (!shares.empty()) return text;
  if (values.size() > 8) return fmt::format("{} values", values.size());
  for (const float value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
  return text;
}

}  // namespace loom

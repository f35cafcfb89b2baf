#include "engine/training/files_to_predict.h"

#include <stdlib.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/data/import_images.h"
#include "engine/data/sample_files.h"

namespace loom {
namespace {

std::filesystem::path makeFolderOfOurs() {
  std::string path = (std::filesystem::temp_directory_path() / "gradloom-predict-XXXXXX").string();
  if (!mkdtemp(path.data())) throwErrno(errno, "make the folder", path);
  return path;
}

void writeRows(const std::filesystem::path& csv, const std::string& variable,
               const std::vector<std::filesystem::path>& files) {
  std::string text = csvCell(variable) + "\n";
  for (const std::filesystem::path& file : files) text += csvCell(file.string()) + "\n";
  writeFileAtomically(csv, text);
}

}  // namespace

std::string refusedText(const std::vector<RefusedSample>& refused) {
  constexpr std::size_t kTold = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(refused.size(), kTold); ++i)
    text += fmt::format("{}{}: {}", i > 0 ? "\n" : "", std::filesystem::path(refused[i].source).filename().string(),
                        refused[i].reason);
  return refused.size() > kTold ? fmt::format("{}\nand {} more", text, refused.size() - kTold) : text;
}

bool isSampleFile(const std::filesystem::path& file) {
  return sampleEndingOf(file.native()) != nullptr;
}

FilesToPredict::FilesToPredict(const std::vector<std::filesystem::path>& files, const std::string& variable)
    : m_files(files) {
  if (m_files.empty()) throwError(ErrorCode::badArgument, "name what is to be predicted: a CSV, pictures or sounds");
  const auto isThere = [](const std::filesystem::path& file) {
    std::error_code none;
    return std::filesystem::exists(file, none);
  };
  for (std::filesystem::path& file : m_files) file = std::filesystem::absolute(file);
  if (std::none_of(m_files.begin(), m_files.end(), isThere))
    throwError(ErrorCode::missingFile, "{}: there is no such file", m_files.front().string());
  const auto samples = std::count_if(m_files.begin(), m_files.end(), isSampleFile);
  if (samples == 0 && m_files.size() == 1) {
    m_csv = m_files.front();
    m_files.clear();
    return;
  }
  if (samples != static_cast<std::ptrdiff_t>(m_files.size()))
    throwError(ErrorCode::badArgument,
               "{} of {} files are pictures, sounds or arrays: name one CSV, or such files alone", samples,
               m_files.size());
  if (variable.empty())
    throwError(ErrorCode::badArgument,
               "the network has several inputs, and {} is one of them: name a CSV with a column for each",
               m_files.front().filename().string());
}

void FilesToPredict::fit(const SampleTaken& taken) {
  m_folder = makeFolderOfOurs();
  FittedSamples fitted = fitSamples(m_files, taken, m_folder);
  refused = std::move(fitted.refused);
  if (fitted.good.empty()) throwError(ErrorCode::badData, "{}", refusedText(refused));
  m_csv = m_folder / "files.csv";
  writeRows(m_csv, taken.variable, fitted.read);
  if (fitted.read != fitted.good) writeRows(m_told = m_folder / "told.csv", taken.variable, fitted.good);
  m_files = std::move(fitted.good);
  steps = std::move(fitted.steps);
  notes = std::move(fitted.notes);
}

FilesToPredict::~FilesToPredict() {
  std::error_code ignored;
  if (!m_folder.empty()) std::filesystem::remove_all(m_folder, ignored);
}

std::string FilesToPredict::name() const {
  return (m_files.empty() ? m_csv : m_files.front()).filename().string();
}

std::string FilesToPredict::source(std::int64_t sample) const {
  const auto place = static_cast<std::size_t>(sample);
  return place < m_files.size() ? m_files[place].string() : std::string();
}

OpenOptions FilesToPredict::openOptions() const {
  OpenOptions options;
  if (!m_folder.empty()) options.cacheFolder = m_folder / "cache";
  return options;
}

}  // namespace loom

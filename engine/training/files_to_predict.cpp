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

}  // namespace

bool isSampleFile(const std::filesystem::path& file) {
  return sampleEndingOf(file.native()) != nullptr;
}

FilesToPredict::FilesToPredict(const std::vector<std::filesystem::path>& files, const std::string& variable)
    : m_files(files) {
  if (m_files.empty()) throwError(ErrorCode::badArgument, "name what is to be predicted: a CSV, pictures or sounds");
  for (std::filesystem::path& file : m_files) {
    file = std::filesystem::absolute(file);
    std::error_code none;
    if (!std::filesystem::exists(file, none))
      throwError(ErrorCode::missingFile, "{}: there is no such file", file.string());
  }
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
  m_folder = makeFolderOfOurs();
  m_csv = m_folder / "files.csv";
  std::string text = csvCell(variable) + "\n";
  for (const std::filesystem::path& file : m_files) text += csvCell(file.string()) + "\n";
  writeFileAtomically(m_csv, text);
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

#include "widgets/document/project_paths.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>

#include "widgets/document/texts.h"

namespace loom {

namespace {

const char* const kWeights = "start_from";

// Everything in the project that names a file.
template <class Visit>
void visitPaths(Project& project, const Visit& visit) {
  for (DatasetSpec& dataset : project.datasets) visit(dataset.csv);
  Json& settings = project.training.settings;
  if (!settings.is_object()) return;
  if (const auto weights = settings.find(kWeights); weights != settings.end() && weights->is_string())
    visit(weights->get_ref<std::string&>());
}

// A link in between could make ".." mean another folder to other programs.
bool meansTheSame(const QString& folder, const QString& relative, const QString& path) {
  return QFileInfo(folder + '/' + relative).canonicalFilePath() == QFileInfo(path).canonicalFilePath();
}

bool wasRelative(const std::string& path, const std::string& before, const QString& folder) {
  if (before.empty()) return false;
  Project read = readProject(before, "before").project;
  bool found = false;
  visitPaths(read, [&](std::string& each) {
    found = found || (QDir::isRelativePath(q(each)) && absolutePath(each, folder) == path);
  });
  return found;
}

}  // namespace

std::string absolutePath(const std::string& path, const QString& folder) {
  if (path.empty() || folder.isEmpty() || !QDir::isRelativePath(q(path))) return path;
  return QDir::cleanPath(QDir(folder).absoluteFilePath(q(path))).toStdString();
}

void makePathsAbsolute(Project& project, const QString& folder) {
  visitPaths(project, [&](std::string& path) { path = absolutePath(path, folder); });
}

std::string projectText(const Project& project, const QString& folder, const std::string& before,
                        const QString& beforeFolder) {
  if (folder.isEmpty()) return writeProject(project);
  Project written = project;
  visitPaths(written, [&](std::string& path) {
    if (path.empty() || QDir::isRelativePath(q(path))) return;
    const QString relative = QDir(folder).relativeFilePath(q(path));
    if (QDir::isAbsolutePath(relative)) return;
    const bool inside = !relative.startsWith(QLatin1String("../"));
    const bool beside = !relative.startsWith(QLatin1String("../../"));
    if (inside || ((beside || wasRelative(path, before, beforeFolder)) && meansTheSame(folder, relative, q(path))))
      path = relative.toStdString();
  });
  return writeProject(written);
}

}  // namespace loom

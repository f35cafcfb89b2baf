#include "app/samples.h"

#include <QCoreApplication>
#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QHash>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>
#include <algorithm>
#include <filesystem>

#include "engine/base/samples.h"

namespace loom {
namespace {

QString samplesFolder() {
  if (const QString named = qEnvironmentVariable("GRADLOOM_SAMPLES"); !named.isEmpty()) return named;
  // Installed; in a build folder, wherever that is.
  const QString here = QCoreApplication::applicationDirPath();
  for (const QString& place : {here + "/../share/gradloom/samples", here + "/../samples"})
    if (QFileInfo::exists(place + "/digits")) return QDir::cleanPath(place);
  return {};
}

// Names that are written in a way of their own; of the others the folder's name is the title.
QString titleOf(const QString& name) {
  static const QHash<QString, QString> kNames{{"unet", "U-Net"},
                                              {"resnet_50", "ResNet-50"},
                                              {"resnet_152", "ResNet-152"},
                                              {"cifar10-speed", "CIFAR-10, fast"},
                                              {"alexnet", "AlexNet"},
                                              {"alexnet_pool5", "AlexNet, pool5"}};
  if (const QString known = kNames.value(name); !known.isEmpty()) return known;
  QString title = name;
  title.replace('_', ' ').replace('-', ' ');
  return title.left(1).toUpper() + title.mid(1);
}

// The first sentence of the project's notes says what it is.
QString summaryOf(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly)) return {};
  const QString notes = QJsonDocument::fromJson(file.readAll()).object().value("notes").toString();
  const qsizetype end = notes.indexOf(". ");
  return (end < 0 ? notes : notes.left(end + 1)).simplified();
}

}  // namespace

QList<SampleProject> samples() {
  // A learner's way; what is not named here follows by name.
  static const QStringList kOrder{
      "digits",       "logistic",           "logistic_regression", "binary",     "binary_classifier",
      "regression",   "tabular_regression", "autoencoder",         "residual",   "residual_network",
      "unet",         "transformer",        "resnet_50",           "resnet_152", "alexnet",
      "alexnet_pool5"};
  QList<SampleProject> found;
  const QDir folder(samplesFolder());
  if (folder.path().isEmpty() || !folder.exists()) return found;
  QStringList names = folder.entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name);
  std::stable_sort(names.begin(), names.end(), [](const QString& a, const QString& b) {
    const auto place = [](const QString& name) {
      const qsizetype at = kOrder.indexOf(name);
      return at < 0 ? kOrder.size() : at;
    };
    return place(a) < place(b);
  });
  for (const QString& name : names) {
    const QStringList projects = QDir(folder.filePath(name)).entryList({"*.loom"}, QDir::Files, QDir::Name);
    if (projects.isEmpty()) continue;
    const QString path = folder.filePath(name + '/' + projects.first());
    found << SampleProject{path, titleOf(name), summaryOf(path)};
  }
  return found;
}

bool isSample(const QString& path) {
  const QString folder = QFileInfo(samplesFolder()).canonicalFilePath();
  if (!folder.isEmpty() && QFileInfo(path).canonicalFilePath().startsWith(folder + '/')) return true;
  return liesAmongSamples(path.toStdString());
}

QString projectsFolder() {
  const QString named = qEnvironmentVariable("GRADLOOM_PROJECTS");
  return named.isEmpty() ? QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation) + "/Gradloom" : named;
}

QString newProjectFolder(const QString& name) {
  const QString root = projectsFolder();
  QString folder = root + '/' + name;
  for (int number = 2; QFileInfo::exists(folder); ++number) folder = root + '/' + name + '-' + QString::number(number);
  QDir().mkpath(folder);
  return folder;
}

QString copyProject(const QString& path, QString* reason) {
  const QFileInfo project(path);
  const QString from = project.absolutePath(), to = newProjectFolder(project.completeBaseName());
  QDirIterator files(from, QDir::Files | QDir::NoSymLinks, QDirIterator::Subdirectories);
  // Thousands of small pictures, and a window that waits for them: QFile::copy(), which syncs each, took 19 s for
  // 5,000, this takes 0.4 s.
  namespace fs = std::filesystem;
  fs::path made;
  while (files.hasNext()) {
    const QString file = files.next(), inside = QDir(from).relativeFilePath(file);
    if (inside.startsWith("runs/") || inside.endsWith(".pack") || inside.endsWith(".cpp")) continue;
    const fs::path copy = (to + '/' + inside).toStdString();
    std::error_code fault;
    if (copy.parent_path() != made) fs::create_directories(made = copy.parent_path(), fault);
    if (fault || !fs::copy_file(file.toStdString(), copy, fault)) {
      if (reason) *reason = QCoreApplication::translate("samples", "%1 cannot be copied to %2").arg(file, to);
      return {};
    }
    fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add, fault);
  }
  return to + '/' + project.fileName();
}

}  // namespace loom

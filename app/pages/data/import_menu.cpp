#include "app/pages/data/import_menu.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <algorithm>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr const char* kTables[] = {".csv", ".tsv", ".tab", ".txt", ".data"};

bool isIdx(const QString& name) {
  return name.contains(QLatin1String("idx"), Qt::CaseInsensitive);
}
bool isTable(const QString& name) {
  return std::any_of(std::begin(kTables), std::end(kTables),
                     [&](const char* ending) { return name.endsWith(QLatin1String(ending), Qt::CaseInsensitive); });
}
bool isCifar(const QString& name) {
  return name.endsWith(QLatin1String(".bin"), Qt::CaseInsensitive) ||
         name.endsWith(QLatin1String(".bin.gz"), Qt::CaseInsensitive);
}

// None in a folder that cannot be read: what is tried next tells why.
std::vector<IdxPair> pairsIn(const QString& folder) {
  try {
    return findIdxPairs(folder.toStdString());
  } catch (const Error&) {
    return {};
  }
}

// "train-images-idx3-ubyte.gz" -> "train"
QString datasetName(const QString& file) {
  QString name = QFileInfo(file).fileName().section(QLatin1Char('.'), 0, 0);
  for (const char* word : {"-images", "_images", "-labels", "_labels", "-idx"})
    if (const auto at = name.indexOf(QLatin1String(word)); at > 0) name.truncate(at);
  return name.isEmpty() ? QStringLiteral("data") : name;
}

enum class Given { nothing, folder, tables, cifar, idx };

Given givenBy(const QStringList& paths) {
  if (paths.isEmpty()) return Given::nothing;
  if (paths.size() == 1 && QFileInfo(paths.front()).isDir()) return Given::folder;
  const auto all = [&](bool (*is)(const QString&)) {
    return std::all_of(paths.begin(), paths.end(),
                       [is](const QString& path) { return is(QFileInfo(path).fileName()); });
  };
  return all(isTable) ? Given::tables : all(isCifar) ? Given::cifar : all(isIdx) ? Given::idx : Given::nothing;
}

}  // namespace

ImportMenu::ImportMenu(ImportTask& task, QWidget* parent) : QMenu(parent), m_task(task) {
  addAction(QStringLiteral("CSV file…"), this, [this] {
    const QString path = QFileDialog::getOpenFileName(parentWidget(), QStringLiteral("Open a CSV dataset"), m_start(),
                                                      tableFilter() + QStringLiteral(";;All files (*)"));
    if (!path.isEmpty()) Q_EMIT csvChosen(path);
  });
  addAction(QStringLiteral("Folder of class folders…"), this, [this] {
    const QString path = QFileDialog::getExistingDirectory(
        parentWidget(), QStringLiteral("A folder whose sub-folders are the classes"), m_start());
    if (!path.isEmpty()) importClassFolder(path);
  });
  addAction(QStringLiteral("IDX images and labels…"), this, [this] {
    const QStringList files =
        QFileDialog::getOpenFileNames(parentWidget(), QStringLiteral("The images file and the labels file"), m_start());
    if (!files.isEmpty()) importIdxFiles(files);
  });
  addAction(QStringLiteral("CIFAR binary batches…"), this, [this] {
    const QStringList files =
        QFileDialog::getOpenFileNames(parentWidget(), QStringLiteral("CIFAR binary batches"), m_start(),
                                      QStringLiteral("CIFAR binary (*.bin *.bin.gz);;All files (*)"));
    if (!files.isEmpty()) importCifarFiles(files);
  });
}

bool ImportMenu::takes(const QStringList& paths) {
  return givenBy(paths) != Given::nothing;
}

QString ImportMenu::tableFilter() {
  QStringList endings;
  for (const char* ending : kTables) endings << QLatin1Char('*') + QLatin1String(ending);
  return QStringLiteral("Tables (%1)").arg(endings.join(QLatin1Char(' ')));
}

bool ImportMenu::take(const QStringList& paths) {
  switch (givenBy(paths)) {
    case Given::nothing:
      return false;
    case Given::folder: {
      const auto pairs = pairsIn(paths.front());
      for (const IdxPair& pair : pairs) importPair(pair);
      if (pairs.empty()) importClassFolder(paths.front());
      return true;
    }
    case Given::tables:
      for (const QString& path : paths) Q_EMIT csvChosen(path);
      return true;
    case Given::cifar:
      importCifarFiles(paths);
      return true;
    case Given::idx:
      importIdxFiles(paths);
      return true;
  }
  return false;
}

void ImportMenu::importInto(const QString& name, const QString& what,
                            std::function<ImportResult(const std::filesystem::path&, const ImportOptions&)> work) {
  const QString home = m_home(name);
  if (home.isEmpty()) return;
  const QDir target(home);
  QString folder = target.filePath(QStringLiteral("data/") + name);
  for (int number = 2; QFileInfo::exists(folder); ++number)
    folder = target.filePath(QStringLiteral("data/%1-%2").arg(name).arg(number));
  m_task.start(what, [work = std::move(work), out = std::filesystem::path(folder.toStdString()),
                      project = std::filesystem::path(home.toStdString())](ImportOptions options) {
    options.project = project;
    return work(out, options);
  });
}

void ImportMenu::importIdxFiles(const QStringList& files) {
  IdxPair pair;
  for (const QString& file : files) {
    const QString name = QFileInfo(file).fileName();
    (name.contains(QLatin1String("label"), Qt::CaseInsensitive) || name.contains(QLatin1String("idx1")) ? pair.labels
                                                                                                        : pair.images) =
        file.toStdString();
  }
  // Choosing only one of the pair is enough where the other lies beside it under its usual name.
  if (pair.images.empty() != pair.labels.empty())
    for (const IdxPair& known : pairsIn(QFileInfo(files.front()).absolutePath()))
      if (known.images.filename() == pair.images.filename() || known.labels.filename() == pair.labels.filename())
        pair = known;
  if (pair.images.empty() || pair.labels.empty()) {
    Q_EMIT refused(
        QStringLiteral("IDX datasets are a pair: choose the file of images and the file of labels together."));
    return;
  }
  pair.name = datasetName(QString::fromStdString(pair.images.string())).toStdString();
  importPair(pair);
}

void ImportMenu::importPair(const IdxPair& pair) {
  importInto(QString::fromStdString(pair.name), QString::fromStdString(pair.images.filename().string()),
             [pair](const std::filesystem::path& out, const ImportOptions& options) {
               return importIdx(pair.images, pair.labels, out, options);
             });
}

void ImportMenu::importCifarFiles(const QStringList& files) {
  std::vector<std::filesystem::path> batches;
  QStringList sorted = files;
  sorted.sort();
  for (const QString& file : sorted) batches.emplace_back(file.toStdString());
  importInto(files.size() == 1 ? datasetName(files.front()) : QStringLiteral("cifar"),
             QFileInfo(files.front()).fileName(),
             [batches](const std::filesystem::path& out, const ImportOptions& options) {
               return importCifar(batches, out, options);
             });
}

void ImportMenu::importClassFolder(const QString& folder) {
  const QString name = QFileInfo(folder).fileName();
  importInto(
      name, name,
      [from = std::filesystem::path(folder.toStdString())](
          const std::filesystem::path& out, const ImportOptions& options) { return importFolder(from, out, options); });
}

}  // namespace loom

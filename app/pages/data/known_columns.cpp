#include "app/pages/data/known_columns.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/data/loader.h"
#include "widgets/document/project_document.h"

namespace loom {

QString datasetPath(const ProjectDocument& document, const DatasetSpec& dataset) {
  return QDir::cleanPath(QDir(document.folder()).absoluteFilePath(QString::fromStdString(dataset.csv)));
}

std::vector<Json> effectivePrepare(const Project& project, const DatasetSpec& dataset) {
  if (dataset.ownPrepare || project.training.updates.empty()) return dataset.prepare;
  const DatasetSpec* training = project.dataset(project.training.updates.front().dataset);
  return training && training != &dataset ? training->prepare : dataset.prepare;
}

KnownColumns knownColumns(const DatasetSpec& dataset, const std::vector<Json>& prepare, const Schema& schema,
                          const std::map<std::string, std::int64_t>& classes) {
  KnownColumns known;
  known.dataset = dataset.name;
  known.classes = classes;
  for (const Variable& variable : schema.variables) {
    try {
      known.shapes[variable.name] = preparedShape(variable, prepare);
    } catch (const Error&) {
      // Said where the preparation is edited.
    }
  }
  return known;
}

KnownColumnsKeeper::KnownColumnsKeeper(ProjectDocument& document, QObject* parent) : QObject(parent), m_document(document) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &KnownColumnsKeeper::refresh);
  connect(&document, &ProjectDocument::opened, this, [this] {
    m_known.clear();
    m_soon.start();
  });
  connect(&document, &ProjectDocument::pathChanged, this, [this] { m_soon.start(); });
  connect(&document, &ProjectDocument::changed, this, [this](const ProjectChange& change) {
    if (change.datasets || change.training) m_soon.start();
  });
  m_soon.start();
}

void KnownColumnsKeeper::learn(const std::string& dataset, const Schema& schema, const std::map<std::string, std::int64_t>& classes) {
  const DatasetSpec* spec = m_document.project().dataset(dataset);
  if (!spec) return;
  const QString path = datasetPath(m_document, *spec);
  m_known[dataset] = {path, QFileInfo(path).lastModified().toMSecsSinceEpoch(), schema, classes};
  m_soon.start();
}

void KnownColumnsKeeper::refresh() {
  std::vector<KnownColumns> all;
  for (const DatasetSpec& dataset : m_document.project().datasets) {
    const QString path = datasetPath(m_document, dataset);
    const QFileInfo file(path);
    if (!file.isFile()) continue;
    const qint64 modified = file.lastModified().toMSecsSinceEpoch();
    Known& known = m_known[dataset.name];
    if (known.path != path || known.modified != modified) {
      known = {path, modified, {}, {}};
      try {
        known.schema = peekSchema(path.toStdString());
      } catch (const Error&) {
        // A CSV that cannot be read: the Data page lists why, and training refuses it with the line.
      }
    }
    if (!known.schema.variables.empty()) all.push_back(knownColumns(dataset, effectivePrepare(m_document.project(), dataset), known.schema, known.classes));
  }
  m_document.setKnownColumns(std::move(all));
}

}  // namespace loom

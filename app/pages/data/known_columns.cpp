#include "app/pages/data/known_columns.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>

#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/target_meaning.h"
#include "engine/data/loader.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/flatten.h"
#include "widgets/document/project_document.h"

namespace loom {

QString datasetPath(const ProjectDocument& document, const DatasetSpec& dataset) {
  return QDir::cleanPath(QDir(document.folder()).absoluteFilePath(QString::fromStdString(dataset.csv)));
}

std::vector<std::string> targetVariables(const Project& project) {
  std::vector<std::string> found;
  for (const Network& drawn : project.networks) {
    const Network network = flatten(project, drawn).network;  // a loss may stand in a unit
    for (const Edge& edge : network.edges) {
      const Node* node = edge.to.port == "target" ? network.find(edge.from.node) : nullptr;
      if (!node || roleOf(node->layer) != LayerRole::input) continue;
      const auto named = node->values.find("variable");
      found.push_back(named != node->values.end() && named->is_string() && !named->get<std::string>().empty()
                          ? named->get<std::string>()
                          : node->id);
    }
  }
  return found;
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

namespace {

// The dataset whose file the steps are measured on.
const DatasetSpec* ownerOfSteps(const Project& project, const DatasetSpec& dataset) {
  if (dataset.ownPrepare || project.training.updates.empty()) return &dataset;
  const DatasetSpec* const trained = project.dataset(project.training.updates.front().dataset);
  return trained ? trained : &dataset;
}

// What a dataset's columns depend on beside its file; empty for a plain CSV without steps on its columns.
QString stepsKey(const ProjectDocument& document, const DatasetSpec& dataset) {
  const DatasetSpec& owner = *ownerOfSteps(document.project(), dataset);
  Json key = {{"steps", columnStepsOf(prepareOf(document.project(), dataset))}};
  if (!key["steps"].empty()) key["owner"] = {owner.csv, owner.extra};
  for (const char* format : {"separator", "decimal", "thousands", "encoding", "header"})
    if (dataset.extra.contains(format)) key[format] = dataset.extra[format];
  return QString::fromStdString(key.dump());
}

struct AskedColumns {
  DatasetSpec spec, owner;
  QString path, ownerPath, key;
  std::vector<Json> steps;
  QString knownPath;
  qint64 knownModified = 0;
};

// Steps on columns are measured first, on the training part: how many columns a word becomes is known only then.
Schema schemaOf(const AskedColumns& asked, const std::atomic<bool>& outdated,
                std::map<std::string, std::int64_t>& classes) {
  OpenOptions options = openingOf(asked.spec, {});
  if (!asked.steps.empty())
    options.prepare = measuredSteps(asked.owner, asked.ownerPath.toStdString(), asked.steps,
                                    [&outdated] { return !outdated.load(); });
  const Schema schema = peekSchema(asked.path.toStdString(), options);
  for (const Variable& variable : schema.variables)
    if (!options.prepare.empty() && variable.kind == VariableKind::scalar)
      if (const std::vector<TargetMeaning> meaning = meaningOf(options.prepare, variable.name);
          meaning.size() == 1 && !meaning[0].classes.empty())
        classes[variable.name] = static_cast<std::int64_t>(meaning[0].classes.size());
  return schema;
}

}  // namespace

KnownColumnsKeeper::KnownColumnsKeeper(ProjectDocument& document, QObject* parent)
    : QObject(parent), m_document(document) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &KnownColumnsKeeper::refresh);
  connect(&document, &ProjectDocument::opened, this, [this] {
    m_known.clear();
    m_soon.start();
  });
  // A file may have come or gone while another program was in front.
  connect(qApp, &QGuiApplication::applicationStateChanged, this, [this](Qt::ApplicationState state) {
    if (state == Qt::ApplicationActive) m_soon.start();
  });
  connect(&document, &ProjectDocument::pathChanged, this, [this] { m_soon.start(); });
  connect(&document, &ProjectDocument::changed, this, [this](const ProjectChange& change) {
    if (change.datasets || change.training) m_soon.start();
  });
  m_soon.start();
}

void KnownColumnsKeeper::learn(const std::string& dataset, const Schema& schema,
                               const std::map<std::string, std::int64_t>& classes) {
  const DatasetSpec* spec = m_document.project().dataset(dataset);
  if (!spec) return;
  const QString path = datasetPath(m_document, *spec);
  m_known[dataset] = {path, QFileInfo(path).lastModified().toMSecsSinceEpoch(), stepsKey(m_document, *spec), schema,
                      classes};
  m_soon.start();
}

void KnownColumnsKeeper::refresh() {
  const Project& project = m_document.project();
  std::vector<AskedColumns> asked;
  for (const DatasetSpec& dataset : project.datasets) {
    AskedColumns each{.spec = dataset, .path = datasetPath(m_document, dataset), .key = stepsKey(m_document, dataset)};
    each.steps = columnStepsOf(prepareOf(project, dataset));
    const DatasetSpec* owner = ownerOfSteps(project, dataset);
    each.owner = *owner;
    each.ownerPath = datasetPath(m_document, *owner);
    if (const auto known = m_known.find(dataset.name); known != m_known.end() && known->second.key == each.key) {
      each.knownPath = known->second.path;
      each.knownModified = known->second.modified;
    }
    asked.push_back(std::move(each));
  }
  m_peek.ask([this, asked = std::move(asked)](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    std::map<std::string, Known> found;  // what is new; without a path where the file is gone
    qint64 bytes = 0;
    for (const AskedColumns& each : asked) {
      if (outdated) return {};
      const QFileInfo file(each.path);
      if (!file.isFile()) {
        found[each.spec.name] = {};
        continue;
      }
      bytes += file.size();
      const qint64 modified = file.lastModified().toMSecsSinceEpoch();
      if (each.knownPath == each.path && each.knownModified == modified) continue;
      Known& known = found[each.spec.name] = {each.path, modified, each.key, {}, {}};
      try {
        known.schema = schemaOf(each, outdated, known.classes);
      } catch (const Error&) {
        // A CSV that cannot be read: the Data page lists why, and training refuses it with the line.
      }
    }
    if (outdated) return {};
    return [this, found = std::move(found), bytes] {
      QStringList written;
      for (const auto& [dataset, known] : found) {
        const auto before = m_known.find(dataset);
        const bool moved = before != m_known.end() && !known.path.isEmpty() && !before->second.path.isEmpty() &&
                           before->second.path != known.path;
        if (before != m_known.end() && !moved && before->second.modified != known.modified)
          written << QString::fromStdString(dataset);
        Known& now = m_known[dataset];
        // What a page learnt meanwhile by reading all of the same file is more than its header.
        if (now.path != known.path || now.modified != known.modified || now.key != known.key) now = known;
      }
      publish();
      Q_EMIT weighed(bytes);
      for (const QString& dataset : written) Q_EMIT fileChanged(dataset);
    };
  });
}

void KnownColumnsKeeper::publish() {
  std::vector<KnownColumns> all;
  QStringList missing;
  for (const DatasetSpec& dataset : m_document.project().datasets)
    if (const auto found = m_known.find(dataset.name);
        found != m_known.end() && found->second.path.isEmpty() && !dataset.csv.empty())
      missing << QString::fromStdString(dataset.name);
  for (const DatasetSpec& dataset : m_document.project().datasets) {
    const auto found = m_known.find(dataset.name);
    if (found == m_known.end() || found->second.schema.variables.empty()) continue;
    all.push_back(
        knownColumns(dataset, prepareOf(m_document.project(), dataset), found->second.schema, found->second.classes));
  }
  m_document.setKnownColumns(std::move(all));
  if (missing == m_missing) return;
  m_missing = missing;
  Q_EMIT missingChanged();
}

}  // namespace loom

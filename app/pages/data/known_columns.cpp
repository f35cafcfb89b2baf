#include "app/pages/data/known_columns.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>

#include "engine/base/error.h"
#include "engine/data/columns/analysis.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/columns/table_pass.h"
#include "engine/data/loader.h"
#include "engine/data/stats.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/flatten.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

constexpr std::int64_t kHeadRows = 20'000;

std::string howOf(const DatasetSpec& spec, const std::vector<Json>& prepare) {
  return Json({spec.extra, columnStepsOf(prepare)}).dump();
}

}  // namespace

QString datasetPath(const ProjectDocument& document, const DatasetSpec& dataset) {
  return QDir::cleanPath(QDir(document.folder()).absoluteFilePath(QString::fromStdString(dataset.csv)));
}

std::vector<std::string> targetVariables(const Project& project) {
  std::vector<std::string> found;
  for (const Network& drawn : project.networks) {
    const Network network = flatten(project, drawn).network;  // a loss may stand in a unit
    for (const Edge& edge : network.edges) {
      const Node* node = edge.to.port == "target" ? network.find(edge.from.node) : nullptr;
      if (!node || node->layer != "Input") continue;
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
  m_known[dataset] = {path, QFileInfo(path).lastModified().toMSecsSinceEpoch(),
                      howOf(*spec, prepareOf(m_document.project(), *spec)), schema, classes};
  m_soon.start();
}

// All of it where that was made ready before; else what the first rows become, whatever cannot be done to others.
KnownColumnsKeeper::Known KnownColumnsKeeper::peek(const QString& path, const DatasetSpec& spec,
                                                   const std::vector<Json>& prepare) {
  Known known{path, QFileInfo(path).lastModified().toMSecsSinceEpoch(), howOf(spec, prepare), {}, {}};
  const std::filesystem::path csv = path.toStdString();
  OpenOptions options = openingOf(spec, prepare);
  const std::vector<Json> steps = columnStepsOf(prepare);
  if (!steps.empty() && csv.extension() != ".pack") {
    if (cacheIsFresh(csv, options)) {
      const auto dataset = openRows(spec, csv, prepare);
      known.schema = dataset->schema();
      for (std::size_t v = 0; v < known.schema.variables.size(); ++v)
        if (isLabel(known.schema.variables[v])) known.classes[known.schema.variables[v].name] = classCount(*dataset, v);
      return known;
    }
    TableFacts head;
    head.format = recogniseCsv(csv, options.format);
    for (const std::string& name : readHeader(csv, head.format)) head.columns.push_back({.name = {}, .header = name});
    const TableSample rows = readTableRows(csv, head, 0, kHeadRows);
    options.prepare = resolveColumns(steps, head.format, rows.header, rows.cells, rows.lines).steps;
    for (const Json& step : sampleStepsOf(prepare)) options.prepare.push_back(step);
  }
  known.schema = peekSchema(csv, options);
  return known;
}

void KnownColumnsKeeper::refresh() {
  struct Asked {
    DatasetSpec spec;
    std::vector<Json> prepare;
    QString path;
    QString knownPath;
    qint64 knownModified = 0;
    std::string knownHow;
  };
  std::vector<Asked> asked;
  for (const DatasetSpec& dataset : m_document.project().datasets) {
    const auto known = m_known.find(dataset.name);
    const Known none, &before = known == m_known.end() ? none : known->second;
    asked.push_back({dataset, prepareOf(m_document.project(), dataset), datasetPath(m_document, dataset), before.path,
                     before.modified, before.how});
  }
  m_peek.ask([this, asked = std::move(asked)](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    std::map<std::string, Known> found;  // what is new; without a path where the file is gone
    for (const Asked& each : asked) {
      if (outdated) return {};
      const QFileInfo file(each.path);
      if (!file.isFile()) {
        found[each.spec.name] = {};
        continue;
      }
      const qint64 modified = file.lastModified().toMSecsSinceEpoch();
      const std::string how = howOf(each.spec, each.prepare);
      if (each.knownPath == each.path && each.knownModified == modified && each.knownHow == how) continue;
      try {
        found[each.spec.name] = peek(each.path, each.spec, each.prepare);
      } catch (const Error&) {
        // What cannot be read: the Data page lists why, and training refuses it with the line.
        found[each.spec.name] = {each.path, modified, how, {}, {}};
      }
    }
    return [this, found = std::move(found)] {
      for (const auto& [dataset, known] : found) {
        Known& now = m_known[dataset];
        // What a page learnt meanwhile by reading all of the same file is more than its header.
        if (now.path != known.path || now.modified != known.modified || now.how != known.how) now = known;
      }
      publish();
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

#include "app/project_facts.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/layers/layer.h"
#include "engine/network/analysis.h"
#include "engine/network/flatten.h"
#include "engine/network/project.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/document/texts.h"

namespace loom {
namespace {

constexpr qint64 kLargestProject = 16 << 20, kMostCounted = qint64{512} << 20, kPiece = 1 << 20;

qint64 timeOf(const QString& path) {
  const QFileInfo file(path);
  return file.exists() ? file.lastModified().toMSecsSinceEpoch() : -1;
}

// Records of a CSV without its header; -1 where that would take too long, or it is not there.
qint64 rowsOfFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > kMostCounted) return -1;
  qint64 lines = 0;
  bool quoted = false, begun = false;
  while (!file.atEnd()) {
    for (const char c : file.read(kPiece)) {
      if (c == '"') quoted = !quoted;
      if (c == '\n' && !quoted) {
        lines += begun;
        begun = false;
      } else if (c != '\r' && c != '\0') {
        begun = true;
      }
    }
  }
  return std::max<qint64>(0, lines + begun - 1);
}

// Those of the file that the dataset is.
qint64 rowsOfDataset(const DatasetSpec& spec, qint64 rows) {
  const Values values(datasetEntry(), spec.extra);
  const qint64 first = values.integer("first_row");
  qint64 count = first < 0 ? std::min(rows, -first) : std::max<qint64>(0, rows - first);
  if (values.has("rows")) count = std::min<qint64>(count, values.integer("rows"));
  if (!values.has("hold_out")) return count;
  const qint64 held = std::llround(static_cast<double>(count) * values.real("hold_out"));
  return values.text("part") == "held" ? held : count - held;
}

class Reading {
 public:
  Reading(const Project& project, ProjectFacts& facts) : m_project(project), m_facts(facts) {}

  void drawing(const Network& network) {
    std::map<std::string, int> places;
    for (const Node& node : network.nodes) {
      const LayerDefinition* const layer = findLayer(node.layer);
      const auto number = static_cast<int>(m_facts.blocks.size());
      places[node.id] = number;
      m_facts.blocks.push_back({node.placed ? QPointF(node.x, node.y) : QPointF(0, number * 60),
                                layer ? q(layer->entry.category) : QString()});
    }
    for (const Edge& edge : network.edges)
      if (places.contains(edge.from.node) && places.contains(edge.to.node))
        m_facts.wires.emplace_back(places[edge.from.node], places[edge.to.node]);
  }

  void flow(const Network& drawn) {
    const Network flat = flatten(m_project, drawn).network;
    const Analysis analysis = analyse(flat);
    const std::vector<DatasetInput> inputs = datasetInputs(flat);
    std::set<std::string> truths;
    QStringList outputs;
    qint64 layers = 0;
    for (const Node& node : flat.nodes) {
      const LayerDefinition* const layer = findLayer(node.layer);
      if (layer && isResult(layer->role)) addOutput(flat, analysis, inputs, node, truths, outputs);
      layers += layer && layer->role == LayerRole::layer;
    }
    QStringList read;
    for (const DatasetInput& input : inputs)
      if (!truths.contains(input.node)) read << q(input.variable) + ' ' + formatShape(input.shape.extents());
    if (read.size() > 3) read = read.mid(0, 2) << QCoreApplication::translate("facts", "%1 more").arg(read.size() - 2);
    m_facts.flow = read.join(", ");
    if (!outputs.isEmpty()) m_facts.flow += " " + QString(QChar(0x2192)) + " " + outputs.join(", ");
    if (layers > 0)
      m_facts.network = counted(layers, QCoreApplication::translate("facts", "layers")) + ", " +
                        counted(analysis.parameters, QCoreApplication::translate("facts", "parameters"));
  }

  void data(const QString& folder) {
    QStringList words;
    std::map<QString, qint64> counts;  // two parts of one file
    std::set<std::string> used;
    for (const UpdateSpec& update : m_project.training.updates) used.insert(update.dataset);
    used.insert(m_project.training.validation);
    for (const DatasetSpec& spec : m_project.datasets) {
      if (spec.csv.empty() || !used.contains(spec.name)) continue;
      const QString csv = QDir::cleanPath(QDir(folder).absoluteFilePath(q(spec.csv)));
      if (!counts.contains(csv)) {
        counts[csv] = rowsOfFile(csv);
        m_facts.files << std::pair(csv, timeOf(csv));
      }
      if (counts[csv] >= 0) {
        words << q(spec.name) + ' ' +
                     counted(rowsOfDataset(spec, counts[csv]), QCoreApplication::translate("facts", "rows"));
      } else if (const QFileInfo file(csv); file.exists()) {
        words << q(spec.name) + ' ' + formatBytes(static_cast<double>(file.size()));
      } else {
        words << QCoreApplication::translate("facts", "%1 is not there").arg(file.fileName());
      }
    }
    m_facts.data = words.join(", ");
  }

 private:
  // "y, 10 classes" of a loss on labels, "price" of one number, "y 3×32×32" of more.
  void addOutput(const Network& flat, const Analysis& analysis, const std::vector<DatasetInput>& inputs,
                 const Node& node, std::set<std::string>& truths, QStringList& outputs) {
    const LayerDefinition& layer = *findLayer(node.layer);
    QString name, shape;
    bool label = false;
    for (const Edge& edge : flat.edges) {
      if (edge.to.node != node.id) continue;
      const bool first = !layer.entry.inputs.empty() && edge.to.port == layer.entry.inputs.front().key;
      const auto input = std::find_if(inputs.begin(), inputs.end(),
                                      [&](const DatasetInput& each) { return each.node == edge.from.node; });
      if (!first && input != inputs.end()) {
        truths.insert(input->node);
        name = q(input->variable);
        label = input->type == DataType::i32;
      }
      const auto facts = analysis.nodes.find(edge.from.node);
      if (first && facts != analysis.nodes.end() && facts->second.known && !facts->second.outputs.empty()) {
        const Shape& out = facts->second.outputs.front();
        shape = formatShape(out.extents());
        m_scores = out.rank() > 0 ? out[-1] : 1;
      }
    }
    if (layer.role != LayerRole::loss || shape.isEmpty()) return;  // a metric tells nothing more
    if (label && m_scores > 1)
      outputs << name + ", " + counted(m_scores, QCoreApplication::translate("facts", "classes"));
    else
      outputs << (shape == "1" ? name : (name + ' ' + shape).trimmed());
  }

  const Project& m_project;
  ProjectFacts& m_facts;
  std::int64_t m_scores = 1;
};

}  // namespace

bool ProjectFacts::isFresh() const {
  return std::all_of(files.begin(), files.end(), [](const auto& file) { return timeOf(file.first) == file.second; });
}

ProjectFacts readProjectFacts(const QString& path) {
  ProjectFacts facts;
  facts.files << std::pair(path, timeOf(path));
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > kLargestProject) return facts;
  const ReadProject read = readProject(file.readAll().toStdString(), path.toStdString());
  if (!read.readable || read.project.networks.empty()) return facts;
  const Network& network = read.project.networks.front();
  Reading reading(read.project, facts);
  reading.drawing(network);
  try {
    reading.flow(network);
    reading.data(QFileInfo(path).absolutePath());
  } catch (const Error&) {
    // Of settings that are wrong: the project says so when it is opened.
  }
  return facts;
}

ProjectFactsKeeper::~ProjectFactsKeeper() {
  if (m_work) m_work->cancel();
}

const ProjectFacts* ProjectFactsKeeper::find(const QString& path) const {
  const auto found = m_facts.constFind(path);
  return found == m_facts.constEnd() ? nullptr : found->get();
}

void ProjectFactsKeeper::ask(const QStringList& paths) {
  if (m_work) m_work->cancel();
  m_work.emplace(this);
  m_busy = true;
  m_work->start([paths, known = m_facts](const Work& here) {
    for (const QString& path : paths) {
      if (here.cancelled()) return;
      if (const auto before = known.value(path); before && before->isFresh()) continue;
      here.post([path, facts = std::make_shared<const ProjectFacts>(readProjectFacts(path))](ProjectFactsKeeper& self) {
        self.m_facts.insert(path, facts);
        Q_EMIT self.known(path);
      });
    }
    here.post([](ProjectFactsKeeper& self) { self.m_busy = false; });
  });
}

}  // namespace loom

#include "launcher/store/metric_layers.h"

#include <QCryptographicHash>
#include <QFile>

#include "engine/metrics/metric.h"
#include "engine/network/flatten.h"

namespace loom {
namespace {

constexpr qint64 kLargestFile = 64 << 20;
constexpr qsizetype kDrawings = 1000;

using Layers = QHash<QString, QString>;

// Of thousands of runs few have another drawing: what was read of one stands for all of them, and is kept once. Of the
// window's thread, as the store is.
Layers& layersOfDrawing(const QByteArray& drawing) {
  static QHash<QByteArray, Layers> known;
  if (known.size() > kDrawings && !known.contains(drawing)) known.clear();
  return known[drawing];
}

// Every node of every network with its layer, as the run names it.
Layers layersOf(QFile& file) {
  if (!file.open(QIODevice::ReadOnly) || file.size() > kLargestFile) return {};
  const QByteArray text = file.readAll();
  Json run = Json::parse(text.begin(), text.end(), nullptr, false);
  if (!run.is_object() || !run.contains("project") || !run["project"].is_object()) return {};
  Json& drawn = run["project"];
  for (const char* key : {"training", "datasets"}) drawn.erase(key);
  const std::string whole = drawn.dump();
  Layers& layers = layersOfDrawing(QCryptographicHash::hash(
      QByteArrayView(whole.data(), static_cast<qsizetype>(whole.size())), QCryptographicHash::Sha1));
  if (!layers.isEmpty()) return layers;
  const Project project = readProject(whole, "run.json").project;
  for (const Network& network : project.networks)
    for (const Node& node : flatten(project, network).network.nodes)
      layers.insert(QString::fromStdString(node.id), QString::fromStdString(node.layer));
  return layers;
}

}  // namespace

QString MetricLayers::layerOf(const RunRecord& run, const QString& metric) const {
  auto known = m_layers.find(run.id);
  if (known == m_layers.end()) {
    QFile file(run.folder + "/run.json");
    if (!file.exists()) return metric;  // not written yet
    known = m_layers.insert(run.id, layersOf(file));
  }
  return known->value(metric, metric);
}

bool MetricLayers::higherIsBetter(const RunRecord& run, const QString& metric) const {
  return goalOf(layerOf(run, metric).toStdString()) == Goal::higher;
}

bool MetricLayers::isShare(const RunRecord& run, const QString& metric) const {
  return loom::isShare(layerOf(run, metric).toStdString());
}

QString MetricLayers::comparedOf(const RunRecord& run, const QStringList& measured) const {
  QString metric, loss;
  for (const QString& name : measured) {
    const LayerDefinition* const layer = findLayer(layerOf(run, name).toStdString());
    if (layer && layer->result.isPrimary) return name;
    if (name == QLatin1String("loss"))
      loss = name;
    else if (metric.isEmpty() && layer && layer->role == LayerRole::metric)
      metric = name;
  }
  return metric.isEmpty() ? loss : metric;
}

}  // namespace loom

#pragma once
// What the metrics of runs are. A metric is a node of the run's network, known by its id: which layer that is stands in
// the run's folder and is read once; how its values are read (which way is better, whether they are shares) stands with
// the layer's definition in the engine, and nowhere else. Window's thread.
#include <QHash>
#include <QStringList>

#include "launcher/store/run_record.h"

namespace loom {

class MetricLayers {
 public:
  bool higherIsBetter(const RunRecord& run, const QString& metric) const;
  // From 0 to 1, which is written in percent.
  bool isShare(const RunRecord& run, const QString& metric) const;
  // The metric by which runs are compared, of those that were measured: a primary one before any other, a metric before
  // a loss; empty when there is none.
  QString comparedOf(const RunRecord& run, const QStringList& measured) const;

 private:
  // Its catalogue id. Where the folder does not say, or not yet, a metric is called as its layer is, as new nodes are.
  QString layerOf(const RunRecord& run, const QString& metric) const;
  mutable QHash<QString, QHash<QString, QString>> m_layers;  // by run and node
};

}  // namespace loom

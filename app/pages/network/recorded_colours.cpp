#include "app/pages/network/recorded_colours.h"

#include <QEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "app/layer_records.h"
#include "app/page.h"
#include "app/pages/network/network_strip.h"
#include "app/workspace.h"
#include "engine/planner/drawn_places.h"
#include "widgets/canvas/network_view.h"
#include "widgets/chart/format.h"
#include "widgets/controls/text.h"
#include "widgets/document/group_edits.h"

namespace loom {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity(),
                 kNotThere = std::numeric_limits<double>::quiet_NaN();
constexpr int kRecolourMs = 60;  // behind a change of the drawing

// Of one or several layers.
struct LayerSum {
  double weight = 0, gradient = 0, update = 0;  // squares
  bool weighs = false;
  std::int64_t units = 0, dead = 0, notFinite = 0;
  double least = kInfinite, most = -kInfinite, count = 0, sum = 0, squares = 0;

  void add(const LayerRecord& layer) {
    if (layer.norms) {
      weighs = true;
      weight += layer.norms->weight * layer.norms->weight;
      gradient += layer.norms->gradient * layer.norms->gradient;
      update += layer.norms->update * layer.norms->update;
    }
    units += layer.units;
    dead += layer.dead;
    const ValueDistribution& values = layer.activations;
    notFinite += values.notFinite();
    if (values.count() == 0) return;
    const auto many = static_cast<double>(values.count());
    least = std::min(least, values.least());
    most = std::max(most, values.most());
    count += many;
    sum += many * values.mean();
    squares += many * (values.deviation() * values.deviation() + values.mean() * values.mean());
  }

  std::array<double, kRecorded> values() const {
    const double norm = std::sqrt(gradient), ratio = std::sqrt(update / weight);
    return {!weighs               ? kNotThere
            : std::isfinite(norm) ? norm
                                  : kInfinite,
            !weighs || weight == 0 ? kNotThere
            : std::isfinite(ratio) ? ratio
                                   : kInfinite,
            units > 0 ? static_cast<double>(dead) / static_cast<double>(units) : kNotThere,
            notFinite > 0 ? kInfinite
            : count > 0   ? std::max(std::abs(least), std::abs(most))
                          : kNotThere};
  }
};

QString plain(double value) {
  if (std::isinf(value)) return QObject::tr("not finite");
  return formatShort(value);
}

RecordedFigures::Node nodeOf(const LayerSum& sum) {
  RecordedFigures::Node node;
  node.values = sum.values();
  QStringList lines;
  const auto [norm, ratio, dead, range] = node.values;
  if (!std::isnan(norm)) {
    node.cards[0] = plain(norm);
    lines << QObject::tr("Gradient norm %1").arg(plain(norm));
  }
  if (!std::isnan(ratio)) {
    node.cards[1] = plain(ratio);
    lines << QObject::tr("Update ratio %1 (of a weight norm of %2)").arg(plain(ratio), plain(std::sqrt(sum.weight)));
  }
  if (!std::isnan(dead)) {
    node.cards[2] = percentText(dead);
    lines << QObject::tr("Dead units %L1 of %L2").arg(sum.dead).arg(sum.units);
  }
  if (!std::isnan(range)) {
    node.cards[3] = std::isinf(range) ? plain(range) : plain(sum.least) + QStringLiteral(" … ") + plain(sum.most);
    const double mean = sum.sum / sum.count;
    if (sum.count > 0)
      lines << QObject::tr("Activations %1 to %2, mean %3, deviation %4")
                   .arg(plain(sum.least), plain(sum.most), plain(mean),
                        plain(std::sqrt(std::max(0.0, sum.squares / sum.count - mean * mean))));
    if (sum.notFinite > 0) lines << QObject::tr("%L1 activations are not finite").arg(sum.notFinite);
  }
  node.words = lines.join(QLatin1Char('\n'));
  return node;
}

using DrawnSums = std::map<std::string, LayerSum>;

DrawnSums sumsOf(const RecordedStep& step, const std::string& network,
                 const std::map<std::string, std::string>& drawnOf) {
  DrawnSums sums;
  const auto layers = step.networks.find(network);
  if (layers == step.networks.end()) return sums;
  for (const auto& [name, layer] : layers->second) {
    // A second output stands behind a dot: "lstm.state".
    auto drawn = drawnOf.find(name);
    if (drawn == drawnOf.end()) drawn = drawnOf.find(name.substr(0, name.rfind('.')));
    if (drawn != drawnOf.end()) sums[drawn->second].add(layer);
  }
  return sums;
}

}  // namespace

RecordedFigures recordedFiguresOf(const Project& project, const AskedDrawing& asked, const LayerRecords& records,
                                  const QString& run) {
  return recordedFiguresOf(project, asked, *records.steps(), records.shown(), run);
}

RecordedFigures recordedFiguresOf(const Project& project, const AskedDrawing& asked,
                                  const std::vector<RecordedStep>& steps, const RecordedStep* shown,
                                  const QString& run) {
  RecordedFigures figures;
  const Network* const around =
      networkAround(project, asked.through.empty() ? asked.drawing : asked.through.front().drawing);
  const Network* drawing = project.network(asked.drawing);
  if (!drawing) drawing = project.unit(asked.drawing);
  if (!shown || !around || !drawing) return figures;
  const FlatNetwork flat = flatten(project, *around);
  std::map<std::string, std::string> drawnOf;
  for (std::size_t i = 0; i < flat.network.nodes.size(); ++i)
    if (std::string drawn = drawnPlace(flat, i, asked.drawing, asked.through); !drawn.empty())
      drawnOf[flat.network.nodes[i].id] = std::move(drawn);
  for (const RecordedStep& step : steps) {
    figures.steps.push_back(step.step);
    for (const auto& [node, sum] : sumsOf(step, around->name, drawnOf)) {
      const auto values = sum.values();
      for (std::size_t kind = 0; kind < kRecorded; ++kind)
        if (std::isfinite(values[kind])) figures.largest[kind] = std::max(figures.largest[kind], values[kind]);
    }
  }
  const DrawnSums sums = sumsOf(*shown, around->name, drawnOf);
  for (const auto& [node, sum] : sums) figures.nodes[node] = nodeOf(sum);
  // A folded group says what all that it hides does.
  for (const Group& group : drawing->groups) {
    LayerSum all;
    bool any = false;
    const auto layers = shown->networks.find(around->name);
    const std::set<std::string> members = membersOf(*drawing, group.id);
    if (layers != shown->networks.end())
      for (const auto& [name, layer] : layers->second)
        if (const auto drawn = drawnOf.find(name); drawn != drawnOf.end() && members.contains(drawn->second)) {
          all.add(layer);
          any = true;
        }
    if (any) figures.nodes[group.id] = nodeOf(all);
  }
  figures.run = run;
  figures.step = shown->step;
  return figures;
}

RecordedColours::RecordedColours(AppContext& context, NetworkView& view, NetworkStrip& strip)
    : QObject(&view),
      m_context(context),
      m_view(view),
      m_strip(strip),
      m_records(LayerRecords::of(*context.workspace)) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(kRecolourMs);
  connect(&m_soon, &QTimer::timeout, this, &RecordedColours::refresh);
  const auto soon = [this] { m_soon.start(); };
  view.installEventFilter(this);
  NetworkScene& scene = view.networkScene();
  connect(&scene, &NetworkScene::costKindChanged, this, &RecordedColours::refresh);
  connect(&m_records, &LayerRecords::changed, this, &RecordedColours::refresh);
  connect(&m_records, &LayerRecords::stepChanged, this, &RecordedColours::refresh);
  connect(&scene, &NetworkScene::networkSwitched, this, soon);
  connect(&view, &NetworkView::inHandChanged, this, soon);
  connect(&scene.document(), &ProjectDocument::changed, this, soon);
  connect(&scene.document(), &ProjectDocument::opened, this, soon);
  connect(context.workspace, &Workspace::currentRunChanged, this, soon);
  connect(&scene, &NetworkScene::recordedStepWanted, this, [this](qint64 step) { m_records.setStep(step); });
  connect(&scene, &NetworkScene::recordingWanted, this, [this] {
    if (m_context.go)
      m_context.go({.page = QStringLiteral("settings"), .field = QStringLiteral("training.record_layers")});
  });
}

bool RecordedColours::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::Show && m_waits) m_soon.start();
  return false;
}

void RecordedColours::refresh() {
  if (!isRecorded(m_view.networkScene().costKind())) return;
  if ((m_waits = !m_view.isVisible())) return;
  m_records.watch(m_records.runToShow());
  const RunRecord* const run = m_context.store->find(m_records.run());
  const Project& project = m_view.networkScene().document().project();
  for (const NetworkStrip::Shown& each : m_strip.shown())
    each.scene->setRecorded(recordedFiguresOf(project, each, m_records, run ? run->name : QString()));
}

}  // namespace loom

#include "app/pages/training/run_layers.h"

#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QSaveFile>
#include <QVBoxLayout>
#include <cmath>

#include "app/layer_records.h"
#include "app/pages/training/run_drawing.h"
#include "app/workspace.h"
#include "launcher/store/run_store.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

constexpr int kDrawing = 2;  // the part that shows all layers at once

QString figureText(double value) {
  return std::isfinite(value) ? formatShort(value) : QObject::tr("not finite");
}

}  // namespace

RunLayers::RunLayers(AppContext& context, QWidget* parent)
    : QStackedWidget(parent), m_context(context), m_records(LayerRecords::of(*context.workspace)) {
  setObjectName("run-layers");
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(20, 10, 20, 12);
  column->setSpacing(8);
  auto* tools = new QWidget;
  auto* row = new FlowLayout(tools, 8);
  m_layer = new ChoiceField;
  m_layer->setObjectName("layers-layer");
  m_layer->setPrefix(tr("Layer"));
  m_layer->setAccessibleName(tr("The layer whose values are shown"));
  m_part = new SegmentedControl({tr("Activations"), tr("Gradients"), tr("Drawing")});
  m_part->setObjectName("layers-part");
  m_part->setAccessibleName(tr("The layer's values, the slopes of the loss by them, or all layers in the drawing"));
  m_canvas = new Button("network", tr("Show on canvas"), ButtonKind::outlined);
  m_canvas->setObjectName("layers-on-canvas");
  m_canvas->setToolTip(tr("The cards in colours, at the step where the cursor stands"));
  m_save = new Button("export", tr("Save..."), ButtonKind::outlined);
  m_save->setObjectName("layers-save");
  for (QWidget* each : std::initializer_list<QWidget*>{m_part, m_layer, m_canvas, m_save}) row->addWidget(each);
  column->addWidget(tools);
  m_fault = makeLabel("error", {}, nullptr, Wrap::yes);
  m_fault->hide();
  column->addWidget(m_fault);
  m_view = new DistributionView;
  m_view->setObjectName("layers-view");
  column->addWidget(m_view, 1);
  m_drawing = new RunDrawing(context, m_records);
  column->addWidget(m_drawing, 1);
  m_facts = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_facts->setObjectName("layers-facts");
  column->addWidget(m_facts);
  addWidget(page);
  m_empty = new EmptyState(Figure::curves, {});
  m_empty->setObjectName("layers-empty");
  m_empty->setAction(QString(), tr("Record layers..."));
  addWidget(m_empty);
  connect(m_empty, &EmptyState::actionTriggered, this, [this] {
    if (m_context.go)
      m_context.go({.page = QStringLiteral("settings"), .field = QStringLiteral("training.record_layers")});
  });
  connect(m_layer, &QComboBox::currentIndexChanged, this, &RunLayers::display);
  connect(m_part, &SegmentedControl::currentChanged, this, &RunLayers::display);
  connect(m_view, &DistributionView::stepClicked, this, [this](qint64 step) { m_records.setStep(step); });
  connect(&m_records, &LayerRecords::changed, this, [this] {
    if (isVisible()) display();
  });
  connect(&m_records, &LayerRecords::stepChanged, this, &RunLayers::showFacts);
  connect(m_canvas, &Button::clicked, this, [this] {
    m_context.workspace->setCurrentRun(m_run);
    m_context.go({.page = QStringLiteral("network")});
    if (QAction* colour =
            m_context.commands->find(m_part->current() != 1 ? QStringLiteral("network.colour-activation-range")
                                                            : QStringLiteral("network.colour-gradient-norm")))
      colour->trigger();
  });
  connect(m_save, &Button::clicked, this, [this] {
    auto* const dialog = new QFileDialog(window(), tr("A folder for the table and the picture"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, &RunLayers::saveTo);
    dialog->open();
  });
  display();
}

void RunLayers::setRun(const QString& id) {
  m_run = id;
  const RunRecord* const run = m_context.store->find(id);
  if (run && LayerRecords::records(*run)) m_records.watch(id);
  display();
}

void RunLayers::cursorAt(std::int64_t step) {
  if (m_records.run() == m_run && !m_run.isEmpty()) m_records.setStep(step);
}

// As the newest step has them; what was chosen stays.
void RunLayers::listLayers() {
  QStringList names;
  const auto& networks = m_records.steps()->back().networks;
  for (const auto& [network, layers] : networks)
    for (const auto& [name, layer] : layers)
      if (layer.activations.count() + layer.activations.notFinite() > 0)
        names << (networks.size() > 1 ? QString::fromStdString(network) + QStringLiteral(": ") : QString()) +
                     QString::fromStdString(name);
  if (names.join('\n') == m_listed) return;
  m_listed = names.join('\n');
  const QString chosen = m_layer->currentText();
  const QSignalBlocker quiet(m_layer);
  m_layer->clear();
  for (const auto& [network, layers] : networks)
    for (const auto& [name, layer] : layers)
      if (layer.activations.count() + layer.activations.notFinite() > 0)
        m_layer->addItem(names.takeFirst(), QStringList{QString::fromStdString(network), QString::fromStdString(name)});
  m_layer->setCurrentIndex(std::max(0, m_layer->findText(chosen)));
}

static const LayerRecord* layerIn(const RecordedStep& step, const QStringList& chosen) {
  if (chosen.size() != 2) return nullptr;
  const auto network = step.networks.find(chosen[0].toStdString());
  if (network == step.networks.end()) return nullptr;
  const auto layer = network->second.find(chosen[1].toStdString());
  return layer == network->second.end() ? nullptr : &layer->second;
}

void RunLayers::display() {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool records = run && LayerRecords::records(*run), there = records && m_records.run() == m_run;
  const bool any = there && !m_records.steps()->empty();
  setCurrentIndex(any ? 0 : 1);
  if (!any) {
    m_empty->setSentence(
        !run ? tr("No run yet. Train starts one; what it makes of its layers stands here where Record layers is set.")
        : records && isLive(run->state)
            ? tr("The first record of the layers stands here as soon as the run has made its first step.")
        : records
            ? tr("This run was to record its layers and has told of none: its log says why.")
            : tr("This run did not record its layers. Set Record layers to every 100 steps, say, and train again: "
                 "it shows where gradients vanish and which units are dead."));
    return;
  }
  listLayers();
  const bool gradients = m_part->current() == 1, drawing = m_part->current() == kDrawing;
  for (QWidget* each : std::initializer_list<QWidget*>{m_layer, m_view, m_facts}) each->setVisible(!drawing);
  m_drawing->setRun(m_run);
  m_drawing->setVisible(drawing);
  if (drawing) return;
  std::vector<DistributionColumn> columns;
  for (const RecordedStep& step : *m_records.steps())
    if (const LayerRecord* const layer = layerIn(step, m_layer->currentData().toStringList()))
      columns.push_back({step.step, gradients ? &layer->gradients : &layer->activations});
  m_view->setEmptyText(gradients ? tr("No gradient flows to what '%1' gives: an input, or a layer before which nothing "
                                      "is trained")
                                       .arg(m_layer->currentText())
                                 : tr("None of its values was finite"));
  m_view->setColumns(gradients ? tr("Slopes of the loss by what %1 gives").arg(m_layer->currentText())
                               : tr("What %1 gives").arg(m_layer->currentText()),
                     std::move(columns), m_records.steps());
  showFacts();
}

void RunLayers::showFacts() {
  if (currentIndex() != 0 || m_records.run() != m_run || m_part->current() == kDrawing) return;
  const RecordedStep* const shown = m_records.shown();
  const LayerRecord* const layer = shown ? layerIn(*shown, m_layer->currentData().toStringList()) : nullptr;
  m_view->setShown(shown ? shown->step : -1);
  if (!layer) return m_facts->setText({});
  QStringList facts;
  if (layer->norms)
    facts << tr("gradient norm %1").arg(figureText(layer->norms->gradient))
          << tr("update ratio %1").arg(figureText(layer->norms->updateRatio()))
          << tr("weight norm %1").arg(figureText(layer->norms->weight));
  if (layer->units > 0) facts << tr("%L1 of %L2 units dead").arg(layer->dead).arg(layer->units);
  const ValueDistribution& values = m_part->current() == 1 ? layer->gradients : layer->activations;
  if (values.count() > 0)
    facts << tr("from %1 to %2, mean %3, deviation %4")
                 .arg(figureText(values.least()), figureText(values.most()), figureText(values.mean()),
                      figureText(values.deviation()));
  if (values.notFinite() > 0) facts << tr("%L1 not finite").arg(values.notFinite());
  m_facts->setText(tr("Step %L1: %2. Recording it took %3 ms.")
                       .arg(shown->step)
                       .arg(facts.join(QStringLiteral(", ")), figureText(shown->ms)));
}

void RunLayers::saveTo(const QString& folder) {
  const bool drawing = m_part->current() == kDrawing;
  const QString name =
      drawing ? m_drawing->fileName()
              : QStringLiteral("layer-%1-%2")
                    .arg(m_layer->currentText().replace('/', '-').replace(QStringLiteral(": "), "-"),
                         m_part->current() == 1 ? QStringLiteral("gradients") : QStringLiteral("activations"));
  const auto distribution = [&] {
    QSaveFile table(QDir(folder).filePath(name + ".csv"));
    const QByteArray text = m_view->toCsv().toUtf8();
    return table.open(QIODevice::WriteOnly) && table.write(text) == text.size() && table.commit() &&
           m_view->toImage(QSize(720, 420), 2).save(QDir(folder).filePath(name + ".png"));
  };
  const bool written = drawing ? m_drawing->saveTo(folder) : distribution();
  m_fault->setVisible(!written);
  if (!written)
    m_fault->setText(tr("%1.csv and .png cannot be written to %2: choose another folder").arg(name, folder));
  if (written && m_context.notify) m_context.notify({tr("%1.csv and %1.png are in %2").arg(name, folder), {}, {}});
}

}  // namespace loom

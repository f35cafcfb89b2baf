#include "app/pages/training/run_landscape.h"

#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QSaveFile>
#include <QTextStream>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "app/trained_runs.h"
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

constexpr int kPointsAlong = 25, kPointsOfPlane = 13, kRunsToLeadTo = 30, kRunsLookedAt = 200;
constexpr const char* kPlane = "two random directions";  // in place of a run
constexpr int kTrainingCurve = 0, kValidationCurve = 1;

QString numberWords(double value) {
  return std::isfinite(value) ? formatShort(value) : QObject::tr("not finite");
}

}  // namespace

RunLandscape::RunLandscape(AppContext& context, QWidget* parent) : QStackedWidget(parent), m_context(context) {
  setObjectName("run-landscape");
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(20, 10, 20, 12);
  column->setSpacing(8);
  auto* tools = new QWidget;
  auto* row = new FlowLayout(tools, 8);
  m_along = new ChoiceField;
  m_along->setObjectName("landscape-along");
  m_along->setPrefix(tr("Loss along"));
  m_along->setAccessibleName(tr("The direction in which the weights are moved"));
  m_samples = new ChoiceField;
  m_samples->setObjectName("landscape-samples");
  m_samples->setPrefix(tr("on"));
  m_samples->setAccessibleName(tr("Samples of each set that a point is measured on"));
  for (const int samples : {1000, 10000}) m_samples->addItem(tr("%1 samples").arg(formatCount(samples)), samples);
  m_samples->addItem(tr("all samples"), 0);
  m_measure = new Button("play", tr("Measure"), ButtonKind::outlined);
  m_measure->setObjectName("landscape-measure");
  m_save = new Button("export", tr("Save..."), ButtonKind::outlined);
  m_save->setObjectName("landscape-save");
  m_progress = new QProgressBar;
  m_progress->setObjectName("landscape-progress");
  m_progress->setTextVisible(false);
  m_progress->setFixedWidth(120);
  m_progress->setAccessibleName(tr("Points measured"));
  m_losses = new SegmentedControl({tr("Training"), tr("Validation")});
  m_losses->setObjectName("landscape-losses");
  m_losses->setAccessibleName(tr("Whose loss the plane shows"));
  for (QWidget* each : std::initializer_list<QWidget*>{m_along, m_samples, m_measure, m_save, m_losses, m_progress})
    row->addWidget(each);
  column->addWidget(tools);
  m_faultText = makeLabel("error", {}, nullptr, Wrap::yes);
  m_faultText->setObjectName("landscape-fault");
  column->addWidget(m_faultText);
  m_plot = new PlotView;
  m_plot->setObjectName("landscape-plot");
  m_plane = new HeatView;
  m_plane->setObjectName("landscape-plane");
  m_shown = new QStackedWidget;
  m_shown->addWidget(m_plot);
  m_shown->addWidget(m_plane);
  column->addWidget(m_shown, 1);
  m_words = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_words->setObjectName("landscape-words");
  column->addWidget(m_words);
  addWidget(page);
  m_empty = new EmptyState(Figure::curves, {});
  m_empty->setObjectName("landscape-empty");
  addWidget(m_empty);
  connect(m_measure, &Button::clicked, this, &RunLandscape::startOrStop);
  connect(m_losses, &SegmentedControl::currentChanged, this, &RunLandscape::display);
  connect(&m_call, &LoomCall::told, this, &RunLandscape::take);
  connect(&m_call, &LoomCall::answered, this, [this] {
    m_found[m_measured].whole = true;
    display();
  });
  connect(&m_call, &LoomCall::refused, this, [this](const QString& sentence) {
    m_fault = sentence;
    display();
  });
  connect(m_save, &Button::clicked, this, [this] {
    auto* const dialog = new QFileDialog(window(), tr("A folder for the table and the picture"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, &RunLandscape::saveTo);
    dialog->open();
  });
  setRun({});
}

void RunLandscape::setRun(const QString& id) {
  if (id != m_run) m_fault.clear();
  m_run = id;
  listRuns();
  display();
}

void RunLandscape::refresh() {
  display();
}

// Runs of the project with weights here, the newest first; of thousands only some are looked at.
void RunLandscape::listRuns() {
  const QString chosen = m_along->currentData().toString();
  QStringList ids;
  m_context.workspace->forEachRun([&](const RunRecord& each) {
    if (each.id != m_run) ids << each.id;
  });
  const QSignalBlocker quiet(m_along);
  m_along->clear();
  m_along->addItem(tr("a random direction"), QString());
  m_along->addItem(tr("a plane of two random directions"), QString::fromLatin1(kPlane));
  for (qsizetype i = ids.size() - 1; i >= std::max<qsizetype>(0, ids.size() - kRunsLookedAt); --i) {
    const RunRecord* const other = m_context.store->find(ids[i]);
    if (m_along->count() > kRunsToLeadTo + 1) break;
    if (other && hasWeightsHere(*other)) m_along->addItem(tr("the line to %1").arg(other->name), other->id);
  }
  m_along->setCurrentIndex(std::max(0, m_along->findData(chosen)));
}

void RunLandscape::startOrStop() {
  m_fault.clear();
  if (m_call.runs()) {
    m_call.cancel();
    return display();
  }
  const RunRecord* const run = m_context.store->find(m_run);
  const RunRecord* const other = m_context.store->find(m_along->currentData().toString());
  if (!run) return;
  m_measured = m_run;
  const bool plane = m_along->currentData().toString() == QLatin1String(kPlane);
  m_found[m_run] = {.to = other ? other->name : QString(),
                    .along = plane ? kPointsOfPlane : 0,
                    .samples = m_samples->currentText(),
                    .points = {}};
  QStringList arguments{"landscape",
                        run->folder,
                        "--json",
                        "--points",
                        QString::number(plane ? kPointsOfPlane : kPointsAlong),
                        "--samples",
                        QString::number(m_samples->currentData().toInt())};
  if (other) arguments << "--to" << other->folder;
  if (plane)
    arguments << "--directions"
              << "2";
  m_call.start(arguments);
  display();
}

void RunLandscape::take(const QByteArray& line) {
  try {
    const Json told = Json::parse(line.constBegin(), line.constEnd());
    if (!told.contains("done")) return;  // the whole answer, whose points are known
    Point point{.a = told.at("a").get<double>(),
                .b = told.value("b", 0.0),
                .training = numberFromJson(told.at("training").at("loss"))};
    if ((point.validated = told.contains("validation")))
      point.validation = numberFromJson(told.at("validation").at("loss"));
    m_found[m_measured].points << point;
    m_progress->setRange(0, told.at("all").get<int>());
    m_progress->setValue(told.at("done").get<int>());
  } catch (const std::exception&) {
    return;  // no line of ours
  }
  if (m_measured == m_run) display();
}

void RunLandscape::display() {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool measurable = run && hasWeightsHere(*run);
  setCurrentIndex(measurable ? 0 : 1);
  if (!measurable) {
    m_empty->setSentence(
        !run ? tr("No run yet. Train starts one; how its loss changes around its weights is measured here then.")
             : tr("The loss around a run's weights is measured where these are, and none of this run lie here yet: "
                  "wait for its first checkpoint, or fetch its best one from its host."));
    return;
  }
  const bool here = m_call.runs() && m_measured == m_run;
  const Found found = m_found.value(m_run);
  m_measure->setText(here ? tr("Stop") : found.points.isEmpty() ? tr("Measure") : tr("Measure again"));
  m_measure->setEnabled(here || !m_call.runs());
  m_measure->setToolTip(m_measure->isEnabled() ? QString() : tr("Another run is being measured"));
  m_along->setEnabled(!here);
  m_samples->setEnabled(!here);
  m_progress->setVisible(here);
  if (here && found.points.isEmpty()) m_progress->setRange(0, 0);
  m_save->setEnabled(!found.points.isEmpty() && !here);
  m_faultText->setText(m_fault);
  m_faultText->setVisible(!m_fault.isEmpty());
  m_shown->setCurrentWidget(found.along > 0 ? static_cast<QWidget*>(m_plane) : m_plot);
  m_losses->setVisible(found.along > 0 && !found.points.isEmpty() && found.points.front().validated);
  if (found.along > 0) return displayPlane(found, run->name, here);
  Plot plot{.title = found.to.isEmpty() ? tr("Loss around %1").arg(run->name)
                                        : tr("Loss from %1 to %2").arg(run->name, found.to),
            .subtitle = {},
            .xName = found.to.isEmpty() ? tr("distance, in lengths of each filter's weights")
                                        : tr("0: %1, 1: %2").arg(run->name, found.to),
            .yName = {}};
  plot.empty = here ? tr("The first point is being measured")
                    : tr("Measure moves the weights step by step and evaluates each time: a sharp minimum rises "
                         "steeply, a flat one slowly");
  double low = HUGE_VAL, high = -HUGE_VAL;
  Plot::Line training{.name = tr("training"), .points = {}, .colour = kTrainingCurve, .strong = true},
      validation{.name = tr("validation"), .points = {}, .colour = kValidationCurve};
  for (const Point& each : found.points) {
    const auto take = [&](Plot::Line& line, double loss) {
      if (!std::isfinite(loss)) return;
      line.points << QPointF(each.a, loss);
      low = std::min(low, loss);
      high = std::max(high, loss);
    };
    take(training, each.training);
    if (each.validated) take(validation, each.validation);
  }
  if (low <= high) {
    plot.lines << training;
    if (!validation.points.isEmpty()) plot.lines << validation;
    plot.subtitle = validation.points.isEmpty() ? tr("training") : tr("training (thick), validation");
    plot.x = found.to.isEmpty() ? Interval{-1, 1} : Interval{-0.5, 1.5};
    plot.y = niceRange({low, high}, 5);
  }
  m_plot->setPlot(std::move(plot));
  QStringList words;
  const auto lossAt = [&](double a) -> const Point* {
    const auto at = std::find_if(found.points.begin(), found.points.end(),
                                 [a](const Point& each) { return std::abs(each.a - a) < 1e-9; });
    return at == found.points.end() ? nullptr : &*at;
  };
  if (const Point* const centre = lossAt(0)) {
    words << tr("Training loss %1 at the run itself").arg(numberWords(centre->training));
    if (found.to.isEmpty()) {
      if (const Point* left = lossAt(-0.5), *right = lossAt(0.5); left && right)
        words << tr("%1 and %2 half a length away").arg(numberWords(left->training), numberWords(right->training));
    } else if (const Point* const end = lossAt(1)) {
      words << tr("%1 at %2").arg(numberWords(end->training), found.to);
    }
  }
  QString text = words.join(QStringLiteral(", "));
  if (!text.isEmpty()) text += QStringLiteral(". ");
  if (!found.points.isEmpty())
    text += tr("On %1; each filter's direction is as long as its weights, biases and normalisations stay; running "
               "statistics as trained.")
                .arg(found.samples);
  if (!found.to.isEmpty())
    text = words.join(QStringLiteral(", ")) +
           tr(". On %1; weights and running statistics go straight from one run's to the other's.").arg(found.samples);
  if (!found.points.isEmpty() && !found.whole && !here) text += tr(" It was stopped before its end.");
  m_words->setText(text);
  m_words->setVisible(!text.isEmpty());
}

void RunLandscape::saveTo(const QString& folder) {
  const Found found = m_found.value(m_run);
  QSaveFile table(QDir(folder).filePath("landscape.csv"));
  bool written = table.open(QIODevice::WriteOnly);
  const QByteArray text = tableOf(found);
  written = written && table.write(text) == text.size() && table.commit();
  const QImage picture = found.along > 0 ? m_plane->toImage(QSize(620, 520), 2) : m_plot->toImage(QSize(720, 420), 2);
  written = written && picture.save(QDir(folder).filePath("landscape.png"));
  m_fault = written ? QString()
                    : tr("landscape.csv and landscape.png cannot be written to %1: choose another folder").arg(folder);
  if (written && m_context.notify)
    m_context.notify({tr("landscape.csv and landscape.png are in %1").arg(folder), {}, {}});
  display();
}

}  // namespace loom

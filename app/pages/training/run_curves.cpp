#include "app/pages/training/run_curves.h"

#include <QVBoxLayout>
#include <algorithm>

#include "app/planned_rate.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/store_series.h"
#include "widgets/chart/chart_stack.h"

namespace loom {
namespace {

constexpr int kTrainingColour = 0, kValidationColour = 1;
constexpr int kLeastCurve = 112;
constexpr double kAhead = 0.04;  // of what is seen so far, beyond the live edge

// Of a run that tells no metric of its own yet: that of its steps by which it would be compared, else the first.
std::string measuredMetric(const MetricLayers& layers, const RunRecord& run, const std::vector<std::string>& names) {
  constexpr std::string_view kSteps = "training.";
  QStringList measured;
  for (const std::string& name : names)
    if (name.starts_with(kSteps) && name != series::kLoss)
      measured << QString::fromStdString(name.substr(kSteps.size()));
  const QString compared = layers.comparedOf(run, measured);
  return (compared.isEmpty() && !measured.isEmpty() ? measured.front() : compared).toStdString();
}

}  // namespace

RunCurves::RunCurves(AppContext& context, QWidget* parent)
    : QWidget(parent), m_context(context), m_stack(new ChartStack) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, 4, 8, 4);
  column->addWidget(m_stack);
  m_loss = m_stack->addPanel(tr("Loss"), tr("lower is better"), 20);
  m_metric = m_stack->addPanel(tr("Accuracy"), "%", 15);
  m_rate = m_stack->addPanel(tr("Learning rate"), {}, 8);
  m_time = m_stack->addPanel(tr("Time per step"), tr("ms"), 9);
  m_loss->setObjectName("loss-chart");
  // Two names with their values stand beside the lines, and a curve has a shape.
  m_loss->setMinimumHeight(kLeastCurve);
  m_metric->setMinimumHeight(kLeastCurve);
  m_metric->setBetter(Better::higher);
  m_rate->setValueKind(ValueKind::rate);
  m_time->setValueKind(ValueKind::plain);
  m_time->setBetter(Better::lower);
  m_stack->setCaption([this](double x) -> ChartStack::Caption {
    const CaptionAnswer* const at = m_caption ? m_caption->ask({m_stack->axis()->unit(), x}) : nullptr;
    if (!at) return {};
    Q_EMIT cursorAt(at->step);
    return {tr("Step %1").arg(formatCount(static_cast<double>(at->step))),
            tr("epoch %1, %2").arg(QString::number(at->epoch, 'f', 1), formatClock(at->time))};
  });
  connect(m_stack, &ChartStack::smoothingRequested, this, &RunCurves::smoothingRequested);
  connect(m_loss, &LineChart::drawn, this, &RunCurves::shown);
}

void RunCurves::setRun(const QString& id) {
  m_run = id;
  m_names.clear();
  m_metricName.clear();
  m_known = {};
  m_outline = {};
  m_question = id.isEmpty() ? nullptr : outlineQuestion(*m_context.store, id, [this] { pointsAdded(); });
  const auto place = [](const RunData& curves, const CaptionAsked& asked) {
    const std::int64_t step = curves.stepOf(toAxis(asked.unit), asked.x);
    return CaptionAnswer{step, curves.xOf(Axis::epoch, step), curves.xOf(Axis::time, step)};
  };
  m_caption = id.isEmpty() ? nullptr
                           : std::make_unique<StoreQuestion<CaptionAsked, CaptionAnswer>>(
                                 *m_context.store, id, place, [this] { m_stack->placeTooltip(); });
  m_stack->axis()->setCursor({});
  m_stack->axis()->follow();
  eventsAdded();
  pointsAdded();
}

void RunCurves::ask() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run || !m_question) return;
  RunOutline::Asked asked{m_stack->axis()->unit(), {0, run->step}};
  if (run->bestStep >= 0) asked.steps.push_back(run->bestStep);
  for (const Flag& flag : m_flags) asked.steps.push_back(flag.step);
  const RunOutline* const said = m_question->ask(asked);
  if (!said) return;
  m_outline = *said;
  m_known = m_question->answered()->unit;
}

std::optional<double> RunCurves::placeOf(std::int64_t step) const {
  const auto found = m_outline.x.find(step);
  if (m_known != m_stack->axis()->unit() || found == m_outline.x.end()) return {};
  return found->second;
}

void RunCurves::setLines() {
  const std::vector<std::string>& names = m_outline.names;
  const auto has = [this](const std::string& name) { return m_outline.has(name); };
  if (names == m_names && !names.empty()) return;
  m_names = names;
  const auto source = [&](const std::string& series) {
    return std::make_shared<StoreSeries>(*m_context.store, m_run, series);
  };
  const auto pair = [&](const std::string& metric, ValueKind training, ValueKind validation) {
    std::vector<ChartLine> lines;
    if (has("training." + metric))
      lines.push_back({.id = "training",
                       .name = tr("training"),
                       .colour = kTrainingColour,
                       .source = source("training." + metric),
                       .value = training});
    if (has("validation." + metric))
      lines.push_back({.id = "validation",
                       .name = tr("validation"),
                       .kind = LineKind::validation,
                       .colour = kValidationColour,
                       .source = source("validation." + metric),
                       .value = validation});
    return lines;
  };
  m_loss->setLines(pair("loss", ValueKind::loss, ValueKind::loss));
  // The metric by which the run is compared, else the first that is measured.
  const RunRecord* const run = m_context.store->find(m_run);
  m_metricName = run && run->metric != "loss" ? run->metric.toStdString() : std::string();
  if (run && m_metricName.empty()) m_metricName = measuredMetric(m_context.store->metrics(), *run, names);
  const QString metric = QString::fromStdString(m_metricName);
  const ValueKind kind = run ? m_context.runMetrics->kind(*run, metric) : ValueKind::loss;
  const bool fraction = kind == ValueKind::accuracy;
  m_metric->setTitle(metric.isEmpty() ? tr("Accuracy") : titleOfMetric(metric), fraction ? "%" : QString());
  m_metric->setValueKind(kind);
  m_metric->setBetter(run ? m_context.runMetrics->better(*run, metric) : Better::lower);
  m_metric->setLines(metric.isEmpty() ? std::vector<ChartLine>()
                                      : pair(m_metricName, fraction ? ValueKind::training : kind, kind));
  m_metric->setVisible(names.empty() || !metric.isEmpty());

  std::vector<ChartLine> rate;
  if (has(series::kRate))
    rate.push_back({.id = "rate",
                    .name = tr("rate"),
                    .kind = LineKind::plain,
                    .ink = Colour::text2,
                    .source = source(series::kRate),
                    .value = ValueKind::rate});
  if (!rate.empty())
    rate.push_back({.id = "planned",
                    .name = tr("planned rate"),
                    .kind = LineKind::planned,
                    .ink = Colour::text3,
                    .source = m_planned,
                    .value = ValueKind::rate});
  m_rate->setLines(std::move(rate));
  std::vector<ChartLine> time;
  const bool data = has(series::kDataMilliseconds), exchange = has(series::kExchangeMilliseconds);
  if (has(series::kMilliseconds)) {
    std::vector<std::string> waits;
    if (data) waits.push_back(series::kDataMilliseconds);
    if (exchange) waits.push_back(series::kExchangeMilliseconds);
    std::shared_ptr<const SeriesSource> compute = source(series::kMilliseconds);
    if (!waits.empty())
      compute = std::make_shared<StoreDifference>(*m_context.store, m_run, series::kMilliseconds, waits);
    time.push_back({.id = "compute",
                    .name = tr("compute"),
                    .kind = LineKind::stacked,
                    .special = [](const Palette& palette) { return palette.compute; },
                    .source = compute,
                    .value = ValueKind::milliseconds});
  }
  if (exchange)
    time.push_back({.id = "exchange",
                    .name = tr("all-reduce"),
                    .kind = LineKind::stacked,
                    .special = [](const Palette& palette) { return palette.allReduce; },
                    .source = source(series::kExchangeMilliseconds),
                    .value = ValueKind::milliseconds});
  if (data)
    time.push_back({.id = "data",
                    .name = tr("data"),
                    .kind = LineKind::stacked,
                    .special = [](const Palette& palette) { return palette.dataWait; },
                    .source = source(series::kDataMilliseconds),
                    .value = ValueKind::milliseconds});
  m_time->setLines(std::move(time));
}

// The axis shows the whole run as it is planned; what is still to come is the ground beyond the live edge.
void RunCurves::setRange() {
  XAxisModel& axis = *m_stack->axis();
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run) {
    m_loss->setEmptyText(tr("No run yet. Train starts one here"));
    axis.setFull({0, 1});
    axis.setLiveEdge({});
    return;
  }
  const XUnit unit = axis.unit();
  const bool live = isLive(run->state) || run->state == RunState::queued;
  m_loss->setEmptyText(run->state == RunState::queued ? tr("Waits for the run before it")
                       : isLive(run->state)           ? tr("Its first step is on the way")
                                                      : tr("Ended before its first step"));
  if (!m_known) m_loss->setEmptyText({});
  const std::optional<double> known = placeOf(run->step);
  if (!known) return;  // it is being read: what stood there stands
  const double edge = *known;
  const double from = unit == XUnit::time ? placeOf(0).value_or(0) : 0;
  // A finished run ends where its last step is, also when an older attempt got further.
  double to = m_outline.loss && m_outline.lastStep > run->step ? m_outline.loss->second : edge;
  // What is still to come stands there for a run that goes on; one that failed ends where it ended.
  if (live || run->state == RunState::stopped) {
    if (unit == XUnit::step)
      to = std::max(to, static_cast<double>(run->stepsTotal));
    else if (unit == XUnit::epoch)
      to = std::max(to, run->epochs);
    else if (run->progress() > 0)
      to = std::max(to, from + (edge - from) / run->progress());
  }
  setPlanned(from, edge);
  // A run that has just begun would be squeezed into the first percents of its whole length.
  if (m_soFar && edge > from) to = std::min(to, edge + kAhead * (edge - from));
  axis.setFull({from, to > from ? to : from + 1});
  axis.setLiveEdge(live && run->step > 0 ? std::optional<double>(edge) : std::nullopt);
}

void RunCurves::setPlanned(double from, double edge) {
  const RunRecord* const run = m_context.store->find(m_run);
  m_planned->clear();
  const bool ahead = run && (isLive(run->state) || run->state == RunState::stopped) && run->step > 0;
  const std::optional<double> now = ahead ? m_context.store->lastValue(m_run, series::kRate) : std::nullopt;
  if (!now) return;
  const double perStep = (edge - from) / static_cast<double>(run->step);
  for (const auto& [step, rate] : plannedRate(*run, *now))
    m_planned->append(edge + (step - static_cast<double>(run->step)) * perStep, rate);
}

void RunCurves::setSoFar(bool soFar) {
  m_soFar = soFar;
  m_stack->axis()->follow();
  setRange();
  m_stack->refresh();
}

void RunCurves::runChanged() {
  ask();
  setRange();
}

void RunCurves::pointsAdded() {
  ask();
  setLines();
  setRange();
  setBest();
  setFlags();
  m_stack->refresh();
}

void RunCurves::setBest() {
  const RunRecord* const run = m_context.store->find(m_run);
  const std::optional<double> place = run && run->bestStep >= 0 ? placeOf(run->bestStep) : std::nullopt;
  std::optional<BestMark> best;
  if (place && run->metricOfValidation && run->metric.toStdString() == m_metricName)
    best = BestMark{
        "validation", *place, run->best,
        tr("best %1, epoch %2")
            .arg(m_context.runMetrics->number(*run, run->best), QString::number(std::round(run->bestEpoch * 10) / 10))};
  m_metric->setBest(best);
}

void RunCurves::setFlags() {
  std::vector<ChartEvent> flags;
  for (const Flag& flag : m_flags)
    if (const auto x = placeOf(flag.step)) flags.push_back({*x, flag.text, flag.icon});
  const std::vector<LineChart*>& panels = m_stack->panels();
  for (LineChart* panel : panels) panel->setEvents(flags, panel == m_loss);
}

void RunCurves::eventsAdded() {
  m_flags.clear();
  if (!m_run.isEmpty())
    for (const Event& event : m_context.store->events(m_run)) {
      const auto step = event.body.find("step");
      if (event.kind == "started" && event.attempt > 1) {
        const auto from = event.body.find("resumed_from");
        if (from != event.body.end() && from->is_number())
          m_flags.push_back({from->get<std::int64_t>(), tr("resumed"), "resume"});
      } else if (event.kind == "control" && step != event.body.end() && step->is_number()) {
        const std::string command = event.body.value("command", std::string());
        const auto value = event.body.find("value");
        if (command == "learning_rate" && value != event.body.end() && value->is_number())
          m_flags.push_back(
              {step->get<std::int64_t>(), tr("rate %1").arg(formatRate(value->get<double>())), "schedule"});
      }
    }
  ask();
  setFlags();
}

void RunCurves::setUnit(XUnit unit) {
  m_stack->axis()->setUnit(unit);
  pointsAdded();
}

void RunCurves::setSmoothing(double weight) {
  m_stack->setSmoothing(weight);
}
void RunCurves::setLogarithmicLoss(bool on) {
  m_loss->setLogarithmic(on);
}
void RunCurves::follow() {
  m_stack->axis()->follow();
}

void RunCurves::goToBest() {
  const RunRecord* const run = m_context.store->find(m_run);
  if (!run || run->bestStep < 0) return;
  if (const auto x = placeOf(run->bestStep)) m_stack->axis()->setCursor(*x);
}

std::int64_t RunCurves::points() const {
  return m_loss->shownPoints();
}

QString RunCurves::words() const {
  const std::int64_t points = m_loss->shownPoints();
  if (points == 0) return {};
  if (m_loss->everyPointShown())
    return points == 1 ? tr("Its one point is shown")
                       : tr("All %1 points shown, 0 folded").arg(formatCount(static_cast<double>(points)));
  return tr("%1 points folded into %2 columns, minimum and maximum kept")
      .arg(formatCount(static_cast<double>(points)), formatCount(static_cast<double>(m_loss->shownColumns())));
}

}  // namespace loom

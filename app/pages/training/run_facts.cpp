#include "app/pages/training/run_facts.h"

#include <QGridLayout>
#include <QLabel>
#include <QProgressBar>
#include <QVBoxLayout>
#include <cmath>

#include "app/pages/training/model_line.h"
#include "app/pages/training/rank_bars.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "launcher/store/run_store.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kEvents = 14, kEventsRead = 300;  // figures by layer stand between them
constexpr int kModelPlace = 3;                  // behind best, line, state

struct EventWords {
  QString text, icon;
  Colour colour;
};

QString textOf(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString();
}

double numberOf(const Json& body, const char* key) {
  const auto found = body.find(key);
  return found != body.end() && found->is_number() ? found->get<double>() : std::nan("");
}

EventWords wordsOf(const Event& event, const RunRecord& run, const RunMetrics& kinds) {
  const Json& body = event.body;
  const QString step = formatCount(numberOf(body, "step"));
  if (event.kind == "checkpoint")
    return {body.value("best", Json()) == Json(true) ? QObject::tr("Best so far, checkpoint at step %1").arg(step)
                                                     : QObject::tr("Checkpoint at step %1").arg(step),
            "save", Colour::text2};
  if (event.kind == "validation") {
    QString value;
    if (const auto metrics = body.find("metrics"); metrics != body.end() && metrics->is_object()) {
      const auto own = metrics->find(run.metric.toStdString());
      if (own != metrics->end() && own->is_number()) value = kinds.text(run, own->get<double>());
    }
    if (value.isEmpty()) value = QObject::tr("loss %1").arg(formatLoss(numberOf(body, "loss")));
    return {QObject::tr("Validation %1: %2").arg(std::round(numberOf(body, "epoch") * 10) / 10).arg(value), "status-ok",
            Colour::ok};
  }
  if (event.kind == "started")
    return {event.attempt > 1 ? QObject::tr("Resumed, attempt %1").arg(event.attempt)
                              : QObject::tr("Started on %1").arg(textOf(body, "device")),
            "play", Colour::text2};
  if (event.kind == "control") {
    const QString command = textOf(body, "command");
    if (command == "learning_rate")
      return {QObject::tr("Rate set to %1").arg(formatRate(numberOf(body, "value"))), "schedule", Colour::text2};
    if (command == "stop_after_epoch") return {QObject::tr("Stops after this epoch"), "stop-after", Colour::text2};
    return {QObject::tr("Told to %1").arg(command), "stop", Colour::text2};
  }
  if (event.kind == "warning") return {textOf(body, "message"), "status-warning", Colour::warning};
  if (event.kind == "error") return {textOf(body, "message"), "status-failed", Colour::error};
  if (event.kind == "finished") {
    const QString reason = textOf(body, "reason");
    if (reason == "done") return {QObject::tr("Finished at step %1").arg(step), "status-ok", Colour::ok};
    if (reason == "stopped") return {QObject::tr("Stopped at step %1").arg(step), "status-stopped", Colour::text2};
    return {QObject::tr("Failed at step %1").arg(step), "status-failed", Colour::error};
  }
  return {};
}

}  // namespace

RunFacts::RunFacts(AppContext& context, QWidget* parent) : QFrame(parent), m_context(context) {
  setProperty("kind", "panel");
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);

  m_column = new QWidget;
  auto* column = new QVBoxLayout(m_column);
  column->setContentsMargins(0, 14, 0, 8);
  column->setSpacing(12);
  const auto section = [&] {
    auto* box = new QVBoxLayout;
    box->setContentsMargins(19, 0, 20, 0);
    box->setSpacing(7);
    column->addLayout(box);
    return box;
  };
  auto* best = section();
  best->addWidget(m_bestName = makeLabel("section"));
  auto* row = new QHBoxLayout;
  row->addWidget(m_bestValue = new QLabel, 0, Qt::AlignBottom);
  keepFont(m_bestValue, FontRole::display);
  m_bestValue->setObjectName("best-value");
  row->addWidget(m_bestUnit = makeLabel("hint", QStringLiteral("%")), 0, Qt::AlignBottom);
  row->addStretch();
  row->addWidget(m_bestWhen = makeLabel("hint"), 0, Qt::AlignBottom);
  best->addLayout(row);
  column->addWidget(hairline());

  auto* state = section();
  auto* grid = new QGridLayout;
  grid->setVerticalSpacing(6);
  grid->setColumnStretch(0, 1);
  m_step = fact(grid, 0, tr("Step"));
  m_bar = new QProgressBar;
  m_bar->setTextVisible(false);
  m_bar->setRange(0, 1000);
  m_bar->setAccessibleName(tr("Progress"));
  grid->addWidget(m_bar, 1, 0, 1, 2);
  m_epoch = fact(grid, 2, tr("Epoch"));
  m_soFar = fact(grid, 3, tr("Time so far"));
  m_left = fact(grid, 4, tr("Time left"));
  m_rate = fact(grid, 5, tr("Rate"));
  m_batch = fact(grid, 6, tr("Global batch"));
  m_parameters = fact(grid, 7, tr("Parameters"));
  m_device = fact(grid, 8, tr("Device"));
  state->addLayout(grid);
  m_sections = column;
  column->addWidget(m_model = new ModelLine(context));
  column->addWidget(hairline());
  section()->addWidget(m_ranks = new RankCard);
  m_ranks->setObjectName("rank-card");
  column->addWidget(hairline());

  auto* events = section();
  events->addWidget(makeLabel("section", tr("Events")));
  m_events = new QVBoxLayout;
  m_events->setSpacing(5);
  events->addLayout(m_events);
  column->addStretch();

  m_strip = new QWidget;
  auto* figures = new QHBoxLayout(m_strip);
  figures->setContentsMargins(20, 10, 20, 8);
  for (int i = 0; i < 4; ++i) {
    auto* figure = new QVBoxLayout;
    figure->setSpacing(1);
    figure->addWidget(m_figureNames[i] = makeLabel("caption"));
    figure->addWidget(m_figures[i] = new QLabel);
    keepFont(m_figures[i], FontRole::heading, Face::numbers);
    figures->addLayout(figure, 1);
  }
  outer->addWidget(m_column);
  outer->addWidget(m_strip);
  m_strip->hide();
  refresh(nullptr);
}

QLabel* RunFacts::fact(QGridLayout* grid, int row, const QString& name) {
  grid->addWidget(makeLabel("label", name), row, 0);
  auto* value = makeLabel("number");
  value->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  value->setAccessibleName(name);
  grid->addWidget(value, row, 1);
  return value;
}

void RunFacts::setForm(Form form) {
  m_form = form;
  m_column->setVisible(form == Form::column);
  m_strip->setVisible(form == Form::strip);
  // Below the figures, whichever form they have.
  m_sections->removeWidget(m_model);
  layout()->removeWidget(m_model);
  if (form == Form::column)
    m_sections->insertWidget(kModelPlace, m_model);
  else
    static_cast<QVBoxLayout*>(layout())->addWidget(m_model);
  m_model->setContentsMargins(0, 0, 0, form == Form::strip ? 8 : 0);
}

void RunFacts::refresh(const RunRecord* run) {
  const QString none = QStringLiteral("–");
  const bool fraction = run && m_context.runMetrics->kind(*run) == ValueKind::accuracy;
  const bool measured = run && run->bestStep >= 0;
  const QString metric = run && !run->metric.isEmpty() ? titleOfMetric(run->metric).toLower() : tr("accuracy");
  const QString bestName = run && !run->metricOfValidation && measured ? tr("Best training %1").arg(metric)
                                                                       : tr("Best validation %1").arg(metric);
  const QString bestValue = measured ? m_context.runMetrics->number(*run, run->best) : none;
  m_bestName->setText(bestName);
  m_bestValue->setText(bestValue);
  m_bestUnit->setVisible(measured && fraction);
  const QString when =
      measured && std::isfinite(run->bestEpoch) ? tr("epoch %1").arg(std::round(run->bestEpoch * 10) / 10) : QString();
  const bool written = run && (!isLive(run->state) || m_model->bestStep() >= run->bestStep);
  m_bestWhen->setText(when.isEmpty() ? QString()
                                     : when + (!run->metricOfValidation ? QString()
                                               : written                ? tr("\nweights kept")
                                                                        : tr("\nweights follow")));
  m_bestWhen->setAlignment(Qt::AlignRight);
  m_bestWhen->setObjectName("best-when");
  const auto number = [&](bool known, const QString& text) { return known ? text : none; };
  const QString step =
      number(run && run->step > 0, run ? run->stepsTotal ? tr("%1 of %2")
                                                               .arg(formatCount(static_cast<double>(run->step)),
                                                                    formatCount(static_cast<double>(run->stepsTotal)))
                                                         : formatCount(static_cast<double>(run->step))
                                       : QString());
  const QString epoch =
      number(run && run->step > 0,
             run ? run->epochs > 0 ? tr("%1 of %2").arg(QString::number(run->epoch, 'f', 1), formatCount(run->epochs))
                                   : QString::number(run->epoch, 'f', 1)
                 : QString());
  const double left = run && run->state == RunState::running ? secondsLeft(*run) : std::nan("");
  const QString leftText = number(std::isfinite(left), formatDuration(left));
  m_step->setText(step);
  m_bar->setValue(run ? static_cast<int>(run->progress() * 1000) : 0);
  m_epoch->setText(epoch);
  m_soFar->setText(number(run && run->duration > 0, run ? formatDuration(secondsSoFar(*run)) : QString()));
  m_left->setText(leftText);
  // The pace of this attempt: samples of the steps that were logged over their time.
  const bool paced = run && run->duration > 0 && run->step > 0 && run->batch > 0;
  m_rate->setText(number(
      paced, run ? formatThroughput(static_cast<double>(run->step) * static_cast<double>(run->batch) / run->duration,
                                    tr("samples"))
                 : QString()));
  m_batch->setText(number(run && run->batch > 0, run ? formatCount(static_cast<double>(run->batch)) : QString()));
  m_parameters->setText(
      number(run && run->parameters > 0, run ? formatCount(static_cast<double>(run->parameters)) : QString()));
  m_device->setText(number(run && !run->device.isEmpty(), run ? run->device : QString()));
  const QString names[] = {bestName, tr("Step"), tr("Epoch"), tr("Time left")};
  const QString values[] = {measured && fraction ? formatPercent(run->best) : bestValue, step, epoch, leftText};
  for (int i = 0; i < 4; ++i) {
    m_figureNames[i]->setText(names[i]);
    m_figures[i]->setText(values[i]);
  }
}

void RunFacts::refreshEvents(const QString& id) {
  while (QLayoutItem* item = m_events->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  m_model->refresh(id);
  const RunRecord* const run = m_context.store->find(id);
  refresh(run);  // whether the best weights are written
  const std::vector<Event> events = run ? m_context.store->events(id, kEventsRead) : std::vector<Event>();
  m_ranks->setShares(rankShares(run, events));
  if (!run) return;
  int shown = 0;
  for (auto each = events.rbegin(); each != events.rend() && shown < kEvents; ++each) {
    const EventWords said = wordsOf(*each, *run, *m_context.runMetrics);
    if (said.text.isEmpty()) continue;
    auto* line = new QWidget;
    auto* parts = new QHBoxLayout(line);
    parts->setContentsMargins(0, 0, 0, 0);
    parts->setSpacing(8);
    auto* time = makeLabel("number", formatClock(each->time));
    keepFont(time, FontRole::label, Face::numbers);
    time->setEnabled(true);
    parts->addWidget(time, 0, Qt::AlignTop);
    parts->addWidget(new IconLabel(said.icon, said.colour, 14), 0, Qt::AlignTop);
    auto* text = makeLabel("label", said.text);
    text->setTextFormat(Qt::PlainText);
    text->setWordWrap(true);
    parts->addWidget(text, 1);
    m_events->addWidget(line);
    ++shown;
  }
  if (!shown) m_events->addWidget(makeLabel("hint", tr("Nothing yet")));
}

}  // namespace loom

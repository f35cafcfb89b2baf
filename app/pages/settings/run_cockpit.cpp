#include "app/pages/settings/run_cockpit.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>
#include <functional>

#include "app/pages/settings/noise_card.h"
#include "app/pages/settings/range_card.h"
#include "app/pages/settings/run_forecast.h"
#include "app/pages/settings/scaling_card.h"
#include "app/pages/settings/schedule_preview.h"
#include "app/pages/settings/train_advice.h"
#include "app/setting_list.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "engine/network/project_settings.h"
#include "engine/optimizers/optimizer.h"
#include "widgets/controls/text.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

constexpr int kAroundPreview = 8;
constexpr int kMostOfLeast = 420;  // px; the longest word of an advice asks no more
constexpr int kSideBySide = 520;   // px, from which two measurements stand beside each other

// Of the update's rule; nothing where it has none, or no number: the field says so.
std::optional<double> fieldOfRule(const UpdateSpec& update, const char* key) {
  const OptimizerDefinition* rule = optimizerOf(update);
  if (!rule || !rule->entry.field(key)) return {};
  try {
    return Values(rule->entry, update.optimizer).real(key);
  } catch (const Error&) {
    return {};
  }
}

SchedulePlan planOf(const Project& project, const UpdateSpec& update, std::int64_t stepsPerEpoch) {
  SchedulePlan plan{.baseRate = fieldOfRule(update, "learning_rate").value_or(0),
                    .schedule = update.schedule,
                    .warmup = update.warmup,
                    .stepsPerEpoch = stepsPerEpoch,
                    .momentum = fieldOfRule(update, "momentum"),
                    .share = ruleShare(update.optimizer)};
  try {
    const Values settings(settingsEntry(), project.training.settings);
    plan.epochs = settings.real("epochs");
    plan.rateScale =
        rateScale(settings.text("rate_scaling"), settings.integer("batch"), settings.integer("base_batch"));
    plan.batch = settings.integer("batch");
    plan.lossScale = settings.text("precision") == "f16";
    plan.stages = batchStages(settings);
  } catch (const Error&) {
    // Not numbers, or stages that cannot be: the problems list names the place.
  }
  return plan;
}

// Of the whole run, which may end before its last epoch.
std::int64_t stepsOf(const Project& project, std::int64_t ofAllEpochs) {
  const Json& settings = project.training.settings;
  const auto most = settings.is_object() ? settings.find("max_steps") : settings.end();
  if (!settings.is_object() || most == settings.end() || !most->is_number()) return ofAllEpochs;
  return std::min(ofAllEpochs, static_cast<std::int64_t>(std::clamp(most->get<double>(), 1.0, 1e15)));
}

}  // namespace

RunCockpit::RunCockpit(ProjectDocument& document, Workspace& workspace, QWidget* parent)
    : QWidget(parent), m_document(document) {
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(0, 0, 0, 0);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget;
  inside->setBackgroundRole(QPalette::Base);
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(20, 14, 20, 4);
  head->setSpacing(8);
  head->addWidget(makeLabel("heading", tr("The whole run")));
  head->addWidget(makeLabel("hint", tr("circles can be dragged"), nullptr, Wrap::yes), 1);
  column->addLayout(head);
  m_preview = new SchedulePreview;
  auto* holder = new QHBoxLayout;
  holder->setContentsMargins(kAroundPreview, 0, kAroundPreview, 8);
  holder->addWidget(m_preview);
  column->addLayout(holder, 3);
  column->addWidget(hairline());
  m_advice = new TrainAdvice;
  m_advice->setBackgroundRole(QPalette::Base);  // of the panel around it
  column->addWidget(m_advice);
  column->addWidget(hairline());
  m_range = new RangeCard(document);
  m_noise = new NoiseCard(document, workspace);
  m_range->setMinimumHeight(216);
  m_measures = new QHBoxLayout;
  m_measures->setSpacing(0);
  m_between = hairline(Qt::Vertical);
  m_measures->addWidget(m_range, 5);
  m_measures->addWidget(m_between);
  m_measures->addWidget(m_noise, 4);
  column->addLayout(m_measures, 2);
  column->addWidget(hairline());
  m_forecast = new RunForecast(document, workspace, this);
  m_scaling = new ScalingCard(*m_forecast);
  m_scaling->setMinimumHeight(200);
  column->addWidget(m_scaling, 1);
  scroll->setWidget(inside);
  outer->addWidget(scroll);
  makeHandles();
}

// What a handle sets is what the field would be: each drag a step of its own.
void RunCockpit::makeHandles() {
  const auto change = [this](const QString& text, const std::function<void(UpdateSpec&)>& set) {
    m_document.edit(text, [this, set](ProjectEdit& edit) {
      if (m_update < edit.training().updates.size()) set(edit.training().updates[m_update]);
    });
  };
  connect(m_preview, &SchedulePreview::rateDragged, this, [change](double rate) {
    change(tr("Drag the learning rate"), [rate](UpdateSpec& update) { update.optimizer["learning_rate"] = rate; });
  });
  connect(m_preview, &SchedulePreview::warmupDragged, this, [change](double epochs) {
    change(tr("Drag the warm-up"), [epochs](UpdateSpec& update) {
      update.warmup = withWarmup(update.warmup, "epochs", epochs > 0 ? Json(epochs) : Json());
    });
  });
  connect(m_preview, &SchedulePreview::stageDragged, this, [this](int stage, double epoch) {
    m_document.edit(tr("Drag a stage of the batch"), [stage, epoch](ProjectEdit& edit) {
      Json& at = edit.training().settings["batch_at"];
      if (at.is_array() && stage < static_cast<int>(at.size())) at[static_cast<std::size_t>(stage)] = epoch;
    });
  });
}

void RunCockpit::setUpdate(std::size_t index) {
  m_update = index;
  m_range->setUpdate(index);
  m_noise->setUpdate(index);
}

void RunCockpit::refresh(std::int64_t stepsPerEpoch, std::int64_t ranks) {
  const Project& project = m_document.project();
  if (m_update < project.training.updates.size())
    m_preview->setPlan(planOf(project, project.training.updates[m_update], stepsPerEpoch));
  m_range->refresh();
  m_noise->refresh();
  updateGeometry();
  m_forecast->refresh(ranks, stepsPerEpoch > 0 ? stepsOf(project, m_preview->steps()) : 0);
}

QSize RunCockpit::minimumSizeHint() const {
  int least = m_preview->minimumSizeHint().width() + 2 * kAroundPreview;
  for (const QWidget* each : std::initializer_list<const QWidget*>{m_advice, m_range, m_noise, m_scaling})
    least = std::max(least, each->minimumSizeHint().width());
  return {std::min(least, kMostOfLeast) + style()->pixelMetric(QStyle::PM_ScrollBarExtent), 200};
}

void RunCockpit::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const bool beside = width() >= kSideBySide;
  m_measures->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_between->setVisible(beside);
}

}  // namespace loom

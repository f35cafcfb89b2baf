// How the Training page is laid out: its header, its tabs and tools, its commands.
#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QTabBar>

#include "app/pages/training/run_curves.h"
#include "app/pages/training/run_time.h"
#include "app/pages/training/training_page.h"
#include "app/run_doubt.h"
#include "app/smoothing_slider.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/elided_label.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/status_label.h"
#include "widgets/controls/switch.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr XUnit kUnits[] = {XUnit::step, XUnit::epoch, XUnit::samples, XUnit::relative};

}  // namespace

void TrainingPage::makeHeader(QVBoxLayout* column) {
  auto* header = new QWidget;
  keepHeight(header, Size::pageBar, 4);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(20, 0, 20, 0);
  row->setSpacing(12);
  m_name = new QLineEdit;
  m_name->setProperty("kind", "bare");
  keepFont(m_name, FontRole::title);
  m_name->setAccessibleName(tr("Name of the run"));
  m_name->setObjectName("run-name");
  m_state = new StatusLabel(Status::queued, StatusLabel::Look::pill);
  m_state->setObjectName("state-chip");
  m_place = new ElidedLabel("hint");
  m_rate = new Button(tr("Change rate..."), ButtonKind::outlined);
  m_rate->setObjectName("change-rate");
  m_stopAfter = new Button(tr("Stop after epoch"), ButtonKind::tinted);
  m_stopAfter->setObjectName("stop-after-epoch");
  m_stop = new Button(tr("Stop now"), ButtonKind::danger);
  m_stop->setObjectName("stop-now");
  m_resume = new Button("resume", tr("Resume"), ButtonKind::tinted);
  m_resume->setObjectName("resume");
  // Where no checkpoint was ever written a resume would only fail in the same way again.
  m_changes = new Button("edit", tr("Train with changes..."), ButtonKind::tinted);
  m_changes->setObjectName("train-with-changes");
  m_more = iconButton("more", tr("More about this run"));
  m_more->setObjectName("run-more-button");
  row->addWidget(m_name);
  row->addWidget(m_state);
  row->addWidget(m_place, 1);
  for (Button* each : {m_rate, m_stopAfter, m_stop, m_resume, m_changes, m_more}) row->addWidget(each);
  column->addWidget(header);

  m_fault = new QWidget;
  m_fault->setObjectName("run-fault");
  m_fault->setAutoFillBackground(true);
  auto* fault = new QHBoxLayout(m_fault);
  fault->setContentsMargins(20, 6, 20, 6);
  fault->setSpacing(10);
  fault->addWidget(new IconLabel("status-failed", Colour::error, 14), 0, Qt::AlignTop);
  m_faultText = new QLabel;
  m_faultText->setTextFormat(Qt::PlainText);
  m_faultText->setWordWrap(true);
  m_faultText->setTextInteractionFlags(Qt::TextSelectableByMouse);
  fault->addWidget(m_faultText, 1);
  auto* showLog = new Button(tr("Show log"), ButtonKind::link);
  fault->addWidget(showLog);
  m_fault->hide();
  column->addWidget(m_fault);
  m_doubt = new RunDoubt(context());
  connect(m_doubt, &RunDoubt::submittedAnew, this, &TrainingPage::showRun);
  auto* doubt = new QVBoxLayout;
  doubt->setContentsMargins(20, 0, 20, 8);
  doubt->addWidget(m_doubt);
  column->addLayout(doubt);

  Launcher& launcher = *context().launcher;
  connect(m_rate, &Button::clicked, this, &TrainingPage::openRateCard);
  connect(m_stopAfter, &Button::clicked, this,
          [this, &launcher] { carryOut([&] { launcher.stopAfterEpoch(m_run); }); });
  connect(m_stop, &Button::clicked, this, [this, &launcher] {
    carryOut([&] {
      launcher.stop(m_run);
      const QString name = m_name->text();
      context().notify({tr("%1 writes a checkpoint and stops.").arg(name), {}, {}});
    });
  });
  connect(m_resume, &Button::clicked, this, [this, &launcher] { carryOut([&] { launcher.resume(m_run); }); });
  connect(m_changes, &Button::clicked, this, [this] {
    if (QAction* const action = context().commands->find("train-changed")) action->trigger();
  });
  connect(m_more, &Button::clicked, this, &TrainingPage::openMore);
  connect(showLog, &Button::clicked, this, [this] { m_tabs->setCurrentIndex(1); });
  connect(m_name, &QLineEdit::editingFinished, this, [this, &launcher] {
    const RunRecord* const run = context().store->find(m_run);
    const QString name = m_name->text().trimmed();
    if (!run || name == run->name) return;
    if (!name.isEmpty()) {
      context().store->change(m_run, [&](RunRecord& record) { record.name = name; });
      launcher.keep(m_run);
    }
    refresh();
  });
}

void TrainingPage::makeTools(QVBoxLayout* column) {
  auto* strip = new QWidget;
  strip->setObjectName("facts-strip");
  auto* stripColumn = new QVBoxLayout(strip);
  stripColumn->setContentsMargins(0, 0, 0, 0);
  column->addWidget(strip);
  auto* bar = new QWidget;
  keepHeight(bar, Size::tabs);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(8, 0, 16, 0);
  row->setSpacing(10);
  m_tabs = new QTabBar;
  m_tabs->setObjectName("training-tabs");
  for (const QString& each : {tr("Curves"), tr("Log"), tr("Settings"), tr("Time"), tr("Predict"), tr("Evaluation"),
                              tr("Large batch"), tr("Layers"), tr("Landscape")})
    m_tabs->addTab(each);
  // All of them stand there, shortened where large text needs the room: a tab that must be scrolled to is not found.
  m_tabs->setUsesScrollButtons(false);
  m_tabs->setElideMode(Qt::ElideRight);
  m_tabs->setExpanding(false);
  row->addWidget(m_tabs, 0, Qt::AlignBottom);
  row->addStretch();
  m_tools = new QWidget;
  auto* tools = new QHBoxLayout(m_tools);
  tools->setContentsMargins(0, 0, 0, 0);
  tools->setSpacing(10);
  m_smoothing = new SmoothingSlider(kUsualSmoothing);
  m_log = new Switch(tr("Log y"));
  m_log->setObjectName("log-y");
  m_unit = new SegmentedControl({tr("Step"), tr("Epoch"), tr("Samples"), tr("Time")});
  m_unit->setObjectName("x-axis");
  m_unit->setAccessibleName(tr("What the x axis counts"));
  m_extent = new SegmentedControl({tr("Whole run"), tr("So far")});
  m_extent->setObjectName("x-extent");
  m_extent->setAccessibleName(tr("How far the x axis reaches"));
  for (QWidget* each : std::initializer_list<QWidget*>{m_smoothing, m_log, m_extent, m_unit}) tools->addWidget(each);
  row->addWidget(m_tools);
  column->addWidget(bar);
  m_toolsBelow = new QWidget;
  m_toolsBelow->setObjectName("tools-below");
  keepHeight(m_toolsBelow, Size::tabs);
  auto* below = new QHBoxLayout(m_toolsBelow);
  below->setContentsMargins(16, 0, 16, 0);
  below->addStretch();
  m_toolsBelow->hide();
  column->addWidget(m_toolsBelow);
  connect(m_tabs, &QTabBar::currentChanged, this, &TrainingPage::showTab);
  connect(m_smoothing, &SmoothingSlider::changed, m_curves, &RunCurves::setSmoothing);
  m_curves->setSmoothing(m_smoothing->weight());
  connect(m_log, &Switch::toggled, this, [this](bool on) { m_curves->setLogarithmicLoss(on); });
  connect(m_extent, &SegmentedControl::currentChanged, this, [this](int index) { m_curves->setSoFar(index == 1); });
  connect(m_unit, &SegmentedControl::currentChanged, this, [this](int index) { m_curves->setUnit(kUnits[index]); });
}

// Beside the tabs where there is room for both, else below them: nothing is cut.
void TrainingPage::placeTools() {
  constexpr int kAround = 8 + 16 + 2 * 10;
  QWidget* const facts = findChild<QWidget*>("facts-scroll");
  const int room = width() - (facts && showsFacts() ? facts->width() + 1 : 0);
  const bool below = m_tabs->sizeHint().width() + m_tools->sizeHint().width() + kAround > room;
  QWidget* const place = below ? m_toolsBelow : m_tabs->parentWidget();
  if (m_tools->parentWidget() != place) place->layout()->addWidget(m_tools);
  const bool curves = m_tabs->currentIndex() == 0;
  m_tools->setVisible(curves);
  m_toolsBelow->setVisible(curves && below);
}

void TrainingPage::makeActions() {
  const char* units[] = {"training.x-steps", "training.x-epochs", "training.x-samples", "training.x-time"};
  const QString names[] = {tr("Steps on the x axis"), tr("Epochs on the x axis"), tr("Samples on the x axis"),
                           tr("Time on the x axis")};
  for (int i = 0; i < 4; ++i)
    addCommand(units[i], names[i], QString::number(i + 1), [this, i] { m_unit->setCurrent(i); });
  addCommand("training.log-loss", tr("Logarithmic loss"), "L", [this] { m_log->toggle(); });
  addCommand("training.so-far", tr("The whole run, or what there is so far"), "E",
             [this] { m_extent->setCurrent(1 - m_extent->current()); });
  addCommand("training.follow", tr("Follow the live edge"), "F", [this] { m_curves->follow(); });
  addCommand("training.best", tr("Go to the best"), "B", [this] { m_curves->goToBest(); });
  addCommand("training.time", tr("Where the time of a step goes"), "T", [this] { m_tabs->setCurrentIndex(3); });
  addCommand("training.predict", tr("Predict with this run"), "P", [this] { m_tabs->setCurrentIndex(4); });
  addCommand("training.evaluate", tr("Evaluate this run"), "V", [this] { m_tabs->setCurrentIndex(5); });
  addCommand("training.large-batch", tr("Large batch: noise scale, trust ratios, waiting"), "G",
             [this] { m_tabs->setCurrentIndex(6); });
  addCommand("training.layers", tr("Activations and gradients of its layers"), "Y",
             [this] { m_tabs->setCurrentIndex(7); });
  addCommand("training.landscape", tr("The loss around its weights"), "N", [this] { m_tabs->setCurrentIndex(8); });
  addCommand("training.time-on-canvas", tr("Time of each layer on the canvas"), "Shift+T", [this] {
    m_tabs->setCurrentIndex(3);
    m_time->showOnCanvas();
  });
  addCommand("training.rename", tr("Rename the run"), "F2", [this] {
    m_name->setFocus(Qt::ShortcutFocusReason);
    m_name->selectAll();
  });
  addCommand("training.rate", tr("Change the learning rate..."), "Ctrl+Shift+L", [this] {
    if (m_rate->isEnabled()) openRateCard();
  });
  connect(m_curves, &RunCurves::smoothingRequested, this, [this](double weight) { m_smoothing->setWeight(weight); });
  connect(m_curves, &RunCurves::shown, this,
          [this] { Q_EMIT statusChanged(m_tabs->currentIndex() == 0 ? m_curves->words() : QString()); });
}

}  // namespace loom

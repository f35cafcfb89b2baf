// How the Runs page is laid out: its bar and its charts.
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>

#include "app/pages/runs/filter_completer.h"
#include "app/pages/runs/run_board.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/runs/settings_panel.h"
#include "app/run_display.h"
#include "app/smoothing_slider.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/folding_choice.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kTypingMs = 400;
constexpr XUnit kUnits[] = {XUnit::step, XUnit::epoch, XUnit::samples, XUnit::time, XUnit::relative};

}  // namespace

QWidget* RunsPage::makeBar() {
  auto* bar = new QWidget;
  keepHeight(bar, Size::pageBar);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(20, 0, 20, 0);
  row->setSpacing(12);
  auto* title = new QLabel(tr("Runs"));
  title->setProperty("kind", "title");
  m_count = new QLabel;
  m_count->setProperty("kind", "hint");
  m_search = new SearchField(tr("Words, or optimizer in (LARS, LAMB) and epochs > 100"), "/");
  m_search->setIconName("filter");
  m_search->setObjectName("runs-filter");
  m_search->setAccessibleName(tr("Filter of the runs"));
  m_search->setMinimumWidth(220);
  m_search->setMaximumWidth(400);
  m_group = new Button("group", {}, ButtonKind::outlined);
  m_group->setObjectName("runs-group");
  connect(m_group, &Button::clicked, this, &RunsPage::chooseGrouping);
  m_viewButton = new Button("list", tr("Views"), ButtonKind::outlined);
  m_viewButton->setObjectName("runs-views");
  m_viewButton->setShrinks(true);
  m_viewButton->setMaximumWidth(180);
  connect(m_viewButton, &Button::clicked, this, &RunsPage::chooseView);
  m_export = new Button("export", tr("Export"), ButtonKind::outlined);
  m_export->setObjectName("runs-export");
  connect(m_export, &Button::clicked, this, &RunsPage::exportMenu);
  m_folder = new Button("import", tr("Open run folder"), ButtonKind::outlined);
  m_folder->setObjectName("runs-folder");
  connect(m_folder, &Button::clicked, this, &RunsPage::openFolder);
  for (Button* each : {m_export, m_folder}) {
    each->setAccessibleName(each->text());
    each->setToolTip(each->text());
  }
  m_compare = new Button("compare", tr("Compare"), ButtonKind::tinted);
  m_compare->setObjectName("compare");
  connect(m_compare, &Button::clicked, this, &RunsPage::compare);
  row->addWidget(title);
  row->addWidget(m_count);
  row->addWidget(m_search, 1);
  row->addWidget(m_group);
  row->addWidget(m_viewButton);
  row->addStretch();
  row->addWidget(m_export);
  row->addWidget(m_folder);
  row->addWidget(m_compare);
  // Under the field, so that what is wrong stands where it was typed.
  auto* fault = new QLabel;
  fault->setProperty("kind", "error");
  fault->setObjectName("runs-filter-fault");
  fault->setTextFormat(Qt::PlainText);
  fault->setWordWrap(true);
  fault->hide();
  // Said when the typing rests: half a word is no fault.
  auto* rest = new QTimer(fault);
  rest->setSingleShot(true);
  rest->setInterval(kTypingMs);
  connect(rest, &QTimer::timeout, fault, [fault] { fault->setVisible(!fault->text().isEmpty()); });
  connect(m_search, &QLineEdit::textChanged, this, [this, fault, rest](const QString& text) {
    const QString sentence = m_rows->setExpression(text);
    setStyleProperty(m_search, "problem", sentence.isEmpty() ? QVariant() : QVariant("error"));
    fault->setText(sentence);
    fault->setContentsMargins(m_search->x(), 0, 20, 8);
    if (sentence.isEmpty()) fault->hide();
    rest->start();
    whenTypingRests();
    refreshWords();
  });
  connect(m_search, &SearchField::escaped, this, [this] { m_table->setFocus(); });
  new FilterCompleter(*m_search, {.names = [this] { return m_model->filterNames(); },
                                  .values = [this](const QString& name) { return m_model->filterValues(name); }});
  auto* whole = new QWidget;
  auto* column = new QVBoxLayout(whole);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(bar);
  column->addWidget(fault);
  return whole;
}

QWidget* RunsPage::makeCharts() {
  auto* part = new QWidget;
  auto* column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(20, 10, 20, 6);
  row->setSpacing(14);
  m_unit = new FoldingChoice({tr("Step"), tr("Epoch"), tr("Samples"), tr("Time"), tr("Relative")});
  m_unit->segments().setObjectName("runs-x-axis");
  m_unit->field().setObjectName("runs-x-axis-field");
  for (QWidget* each : std::initializer_list<QWidget*>{&m_unit->segments(), &m_unit->field()})
    each->setAccessibleName(tr("What the x axis counts"));
  m_unit->field().setPrefix(tr("x"));
  m_smoothing = new SmoothingSlider(kUsualSmoothing);
  m_logX = new Switch(tr("Log x"));
  m_logLoss = new Switch(tr("Log loss"));
  m_logLoss->setObjectName("log-loss");
  m_which = new ChoiceField;
  m_which->setObjectName("runs-chart");
  m_which->setAccessibleName(tr("Which chart is shown"));
  m_which->setMaximumWidth(190);
  connect(m_which, &QComboBox::activated, this, &RunsPage::showPanels);
  m_addChart = new Button("plus", tr("Chart"), ButtonKind::plain);
  m_addChart->setObjectName("add-chart");
  m_addChart->setToolTip(tr("Add a chart of any curve (Shift+A)"));
  connect(m_addChart, &Button::clicked, this, &RunsPage::addChart);
  m_badge = new QLabel;
  m_badge->setProperty("kind", "hint");
  m_badge->setObjectName("every-point");
  for (QWidget* each :
       std::initializer_list<QWidget*>{m_unit, m_smoothing, m_logX, m_logLoss, m_which, m_addChart, m_badge})
    row->addWidget(each);
  row->addStretch();
  column->addLayout(row);
  m_charts = new ChartStack(Qt::Horizontal);
  m_metric = m_charts->addPanel(tr("Validation accuracy"), "%", 3);
  m_loss = m_charts->addPanel(tr("Training loss"), {}, 2);
  m_metric->setLineEnds(LineEnds::oneLine);
  m_metric->setEmptyText(tr("Tick runs in the table to draw them here"));
  m_settings = new SettingsPanel(*m_model, *m_rows, *context().runMetrics);
  auto* box = new QHBoxLayout;
  box->setContentsMargins(12, 0, 12, 4);
  box->setSpacing(20);
  // More rows of charts than there is room for are scrolled to.
  m_board = new RunBoard(*m_charts, *m_metric, *m_loss, this);
  auto* scroll = new QScrollArea;
  scroll->setObjectName("runs-board");
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  m_charts->setProperty("kind", "scrolled");
  scroll->setWidget(m_charts);
  box->addWidget(scroll, kChartsShare);
  box->addWidget(m_settings, kSettingsShare);
  column->addLayout(box, 1);
  connect(m_unit, &FoldingChoice::currentChanged, this, [this](int index) {
    m_charts->axis()->setUnit(kUnits[index]);
    setRange();
    m_charts->refresh();
  });
  connect(m_smoothing, &SmoothingSlider::changed, m_charts, &ChartStack::setSmoothing);
  m_charts->setSmoothing(m_smoothing->weight());
  connect(m_logX, &Switch::toggled, this, [this](bool on) { m_charts->axis()->setLogarithmic(on); });
  connect(m_logLoss, &Switch::toggled, m_loss, &LineChart::setLogarithmic);
  connect(m_loss, &LineChart::logarithmicChanged, m_logLoss, &Switch::setChecked);
  connectBoard();
  m_charts->setCaption([this](double x) -> ChartStack::Caption {
    const QString names[] = {tr("Step"), tr("Epoch"), tr("Samples"), tr("Time"), tr("After")};
    const int unit = m_unit->current();
    const QString value = unit == 0 || unit == 2 ? formatCount(x)
                          : unit == 1            ? QString::number(x, 'f', 1)
                          : unit == 3            ? formatMoment(x)
                                                 : formatDuration(x);
    return {names[unit] + ' ' + value, {}};
  });
  return part;
}

}  // namespace loom

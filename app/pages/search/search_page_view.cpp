// How the page looks; what it does stands in search_page.cpp.
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/pages/search/front_picture.h"
#include "app/pages/search/search_page.h"
#include "app/pages/search/space_form.h"
#include "app/pages/search/structure_chooser.h"
#include "app/pages/search/trial_model.h"
#include "engine/planner/gpu_model.h"
#include "engine/search/stop_rule.h"
#include "engine/search/strategy.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/text.h"
#include "widgets/table/data_table.h"
#include "widgets/table/table_sort_model.h"
#include "widgets/theme/kept.h"

namespace loom {
namespace {

constexpr int kForm = 380, kBar = 40, kField = 96;

template <class Table>
ChoiceField* choiceOf(const Table& table, const char* name, const QString& words) {
  auto* field = new ChoiceField;
  field->setObjectName(name);
  field->setAccessibleName(words);
  for (const auto* each : table) field->addItem(QString::fromStdString(each->label), QString::fromStdString(each->id));
  return field;
}

NumberField* wholeNumber(const char* name, const QString& words, int value, int most) {
  auto* field = new NumberField(NumberField::Kind::integer);
  field->setObjectName(name);
  field->setAccessibleName(words);
  field->setLimits(1, most);
  field->setSteppers(true);
  field->setValue(value);
  keepWidth(field, kField);
  return field;
}

QHBoxLayout* labelled(const QString& words, QWidget* field, bool wide) {
  auto* row = new QHBoxLayout;
  auto* label = makeLabel("field", words);
  label->setBuddy(field);
  keepWidth(label, 112);
  row->addWidget(label);
  row->addWidget(field, wide ? 1 : 0);
  if (!wide) row->addStretch();
  return row;
}

}  // namespace

// Two buttons: a setting by its key, and what of the drawing is searched, chosen from lists that open below.
QWidget* SearchPage::makeStructure() {
  auto* add = new Button("plus", tr("Add a setting"), ButtonKind::plain);
  add->setObjectName("search-add");
  connect(add, &Button::clicked, m_space, [this] { m_space->addRow(); });
  m_addStructure = new Button("plus", tr("Add structure"), ButtonKind::plain);
  m_addStructure->setObjectName("search-add-structure");
  m_addStructure->setCheckable(true);
  m_addStructure->setToolTip(tr("Widths, depths and layers of the drawing"));
  m_structure = new StructureChooser;
  m_structure->hide();
  connect(m_addStructure, &Button::toggled, m_structure, [this](bool open) {
    m_structure->setVisible(open);
    // Where it has its place.
    const auto show = [this] { m_scroll->ensureWidgetVisible(m_structure, 0, 8); };
    if (open) QMetaObject::invokeMethod(m_structure, show, Qt::QueuedConnection);
  });
  auto* all = new QWidget;
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(add);
  row->addWidget(m_addStructure);
  row->addStretch();
  column->addLayout(row);
  column->addWidget(m_structure);
  return all;
}

QWidget* SearchPage::makeLimits() {
  m_planFor = new ChoiceField;
  m_planFor->setObjectName("search-plan-for");
  m_planFor->setAccessibleName(tr("Device of predicted times"));
  m_planFor->addItem(tr("This processor"), QString());
  for (const GpuModel& each : gpuModels())
    m_planFor->addItem(QString::fromUtf8(each.name.data(), static_cast<qsizetype>(each.name.size())),
                       QString::fromUtf8(each.id.data(), static_cast<qsizetype>(each.id.size())));
  auto* all = new QWidget;
  auto* column = new QVBoxLayout(all);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  const std::map<std::string, QString> hints{{"multiply_adds", tr("no limit; 2M, of a sample")},
                                             {"parameters", tr("no limit; 60k")},
                                             {"step", tr("no limit; 5 ms")},
                                             {"memory", tr("no limit; 512 MiB")}};
  for (const TrialCostKind& each : costKinds()) {
    if (each.isMeasured) continue;
    auto* field = new QLineEdit;
    field->setObjectName(QStringLiteral("search-limit-") + each.key);
    field->setAccessibleName(tr("Most %1").arg(tr(each.more)));
    field->setPlaceholderText(hints.at(each.key));
    m_limits.emplace_back(&each, field);
    column->addLayout(labelled(tr(each.label), field, true));
  }
  column->addLayout(labelled(tr("Predicted for"), m_planFor, true));
  column->addWidget(makeLabel("hint", tr("What costs more is drawn anew, and never trained."), nullptr, Wrap::yes));
  return all;
}

QWidget* SearchPage::makeFront() {
  m_front = new FrontPicture;
  m_against = new ChoiceField;
  m_against->setObjectName("search-against");
  m_against->setAccessibleName(tr("What results are weighed against"));
  m_against->setPrefix(tr("Against"));
  for (const TrialCostKind& each : costKinds()) m_against->addItem(tr(each.label), QString::fromUtf8(each.key));
  auto* save = new Button("export", tr("Front as CSV"), ButtonKind::plain);
  save->setObjectName("search-export-front");
  connect(save, &Button::clicked, this, &SearchPage::exportFront);
  m_frontPart = new QWidget;
  auto* column = new QVBoxLayout(m_frontPart);
  column->setContentsMargins(12, 6, 12, 0);
  column->setSpacing(2);
  auto* row = new QHBoxLayout;
  row->addWidget(makeLabel("section", tr("What results cost")));
  row->addSpacing(12);
  row->addWidget(m_against);
  row->addStretch();
  row->addWidget(save);
  column->addLayout(row);
  column->addWidget(m_front, 1);
  m_frontPart->hide();
  return m_frontPart;
}

QWidget* SearchPage::makeForm() {
  m_space = new SpaceForm;
  m_strategy = choiceOf(strategyTable(), "search-strategy", tr("Strategy"));
  m_stopWeak = choiceOf(stopRuleTable(), "search-stop-weak", tr("Weak trials"));
  m_strategyHelp = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_stopHelp = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_trials = wholeNumber("search-trials", tr("Trials"), 30, 100000);
  m_atOnce = wholeNumber("search-at-once", tr("At once"), 1, 256);
  m_atOnce->setToolTip(
      tr("So many trials are in the queue of the host or train at one time. This machine trains one after the other."));
  m_place = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_fault = makeLabel("error", {}, nullptr, Wrap::yes);
  m_fault->setObjectName("search-fault");
  m_fault->hide();
  m_start = new Button("search", tr("Start search"), ButtonKind::tinted);
  m_start->setObjectName("search-start");
  m_goOn = new Button("resume", tr("Go on"), ButtonKind::outlined);
  m_goOn->setObjectName("search-go-on");
  m_stop = new Button("stop", tr("Stop"), ButtonKind::danger);
  m_stop->setObjectName("search-stop");
  auto* inside = new QWidget;
  auto* column = new QVBoxLayout(inside);
  column->setContentsMargins(16, 16, 16, 16);
  column->setSpacing(10);
  column->addWidget(makeLabel("section", tr("Search over")));
  column->addWidget(m_space);
  column->addWidget(makeStructure());
  column->addSpacing(6);
  column->addWidget(makeLabel("section", tr("Limits")));
  column->addWidget(makeLimits());
  column->addSpacing(6);
  column->addWidget(makeLabel("section", tr("How")));
  column->addLayout(labelled(tr("Strategy"), m_strategy, true));
  column->addWidget(m_strategyHelp);
  column->addLayout(labelled(tr("Weak trials"), m_stopWeak, true));
  column->addWidget(m_stopHelp);
  column->addLayout(labelled(tr("Trials"), m_trials, false));
  column->addLayout(labelled(tr("At once"), m_atOnce, false));
  column->addWidget(m_place);
  column->addStretch();
  inside->setAutoFillBackground(false);
  m_scroll = new QScrollArea;
  m_scroll->setObjectName("search-form");
  m_scroll->setWidget(inside);
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->viewport()->setAutoFillBackground(false);

  auto* foot = new QHBoxLayout;
  foot->setSpacing(8);
  foot->addWidget(m_start);
  foot->addWidget(m_goOn);
  foot->addStretch();
  foot->addWidget(m_stop);
  auto* panel = new QWidget;
  keepWidth(panel, kForm);
  auto* all = new QVBoxLayout(panel);
  all->setContentsMargins(0, 0, 0, 0);
  all->setSpacing(0);
  all->addWidget(m_scroll, 1);
  all->addWidget(hairline());
  auto* below = new QVBoxLayout;
  below->setContentsMargins(16, 12, 16, 12);
  below->addWidget(m_fault);
  below->addLayout(foot);
  all->addLayout(below);
  return panel;
}

QWidget* SearchPage::makeTrials() {
  m_searches = new ChoiceField;
  m_searches->setObjectName("search-shown");
  m_searches->setAccessibleName(tr("Search that is shown"));
  m_searches->setMinimumWidth(120);
  m_words = makeLabel("hint");
  m_words->setSizePolicy(QSizePolicy::Ignored,
                         QSizePolicy::Preferred);  // in a narrow window it ends where the room does
  m_words->setObjectName("search-words");
  m_progress = new QProgressBar;
  m_progress->setTextVisible(false);
  m_progress->setFixedSize(96, 6);
  m_progress->setAccessibleName(tr("Trials that have ended"));
  m_train = new Button("play", tr("Train the best"), ButtonKind::outlined);
  m_train->setObjectName("search-train-best");
  m_train->setToolTip(tr("One run with the settings of the best trial"));
  m_table = new DataTable;
  m_table->setObjectName("search-table");
  m_table->setAccessibleName(tr("Trials"));
  m_table->setSortingEnabled(true);
  m_table->setModel(m_sorted);
  m_table->sortByColumn(0, Qt::AscendingOrder);
  m_table->setEmptyState(
      new EmptyState(Figure::table, tr("Name a setting or a part of the drawing and its range, then start: every "
                                       "trial is a run, and the best one stands out here")));
  auto* panel = new QWidget;
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* bar = new QWidget;
  bar->setFixedHeight(kBar);
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(12, 0, 12, 0);
  row->setSpacing(12);
  row->addWidget(m_searches);
  row->addWidget(m_progress);
  row->addWidget(m_words, 1);
  row->addWidget(m_train);
  column->addWidget(bar);
  column->addWidget(hairline());
  m_splitter = new Splitter(Qt::Vertical);
  m_splitter->addWidget(makeFront());
  m_splitter->addWidget(m_table);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->setInitialSizes({300, 360});
  column->addWidget(m_splitter, 1);
  return panel;
}

}  // namespace loom

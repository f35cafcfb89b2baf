#include "app/pages/training/evaluation_board.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/training/evaluation_plots.h"
#include "app/pages/training/evaluation_side.h"
#include "app/pages/training/sample_panel.h"
#include "widgets/chart/format.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"
#include "widgets/evaluation/confusion_view.h"
#include "widgets/evaluation/mask_tools.h"
#include "widgets/evaluation/plot_view.h"
#include "widgets/evaluation/sample_cards.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/kept.h"

namespace loom {
namespace {

constexpr int kSideWidth = 308, kNarrowBoard = 1080, kTableRows = 12;

QScrollArea* scrollOf(QWidget* content) {
  auto* const scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(content);
  content->setAutoFillBackground(false);  // the page's own ground
  scroll->viewport()->setAutoFillBackground(false);
  return scroll;
}

QHBoxLayout* titled(QLabel* title, QLabel* words) {
  auto* const row = new QHBoxLayout;
  row->setSpacing(10);
  row->addWidget(title);
  words->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  row->addWidget(words, 1);
  return row;
}

}  // namespace

EvaluationBoard::EvaluationBoard(QWidget* parent) : QWidget(parent) {
  setObjectName("evaluation-board");
  m_sorted.setSourceModel(&m_model);
  auto* const left = new QWidget;
  m_left = new QVBoxLayout(left);
  m_left->setContentsMargins(20, 12, 16, 16);
  m_left->setSpacing(12);
  m_outputs = new ChoiceField;
  m_outputs->setObjectName("evaluation-output");
  m_outputs->setPrefix(tr("Output"));
  m_left->addWidget(m_outputs, 0, Qt::AlignLeft);
  m_left->addWidget(m_matrixPart = makeMatrix());
  m_left->addWidget(makeTable());
  auto* const charts = new QHBoxLayout;
  charts->setSpacing(16);
  m_first = new PlotView;
  m_first->setObjectName("evaluation-first-chart");
  m_second = new PlotView;
  m_second->setObjectName("evaluation-second-chart");
  for (PlotView* each : {m_first, m_second}) {
    each->setMinimumHeight(220);
    charts->addWidget(each, 1);
  }
  m_left->addLayout(charts);
  m_left->addStretch();
  m_side = new EvaluationSide;
  m_leftScroll = scrollOf(left);
  m_sideScroll = scrollOf(m_side);
  keepWidth(m_sideScroll, kSideWidth);
  m_row = new QHBoxLayout(this);
  m_row->setContentsMargins(0, 0, 0, 0);
  m_row->setSpacing(0);
  m_row->addWidget(m_leftScroll, 1);
  m_row->addWidget(hairline(Qt::Vertical));
  m_row->addWidget(makeSamples(), 1);
  m_row->addWidget(m_sideLine = hairline(Qt::Vertical));
  m_row->addWidget(m_sideScroll);
  connect(m_outputs, &QComboBox::activated, this, &EvaluationBoard::showOutput);
  connect(m_side, &EvaluationSide::changesWanted, this, &EvaluationBoard::showChanges);
  connect(m_first, &PlotView::pointClicked, this, [this](int point) {
    if (point < static_cast<int>(m_points.size())) m_cards->setPlaces({m_points[static_cast<std::size_t>(point)]});
  });
}

QWidget* EvaluationBoard::makeMatrix() {
  auto* const part = new QWidget;
  auto* const column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(8);
  m_matrixWords = makeLabel("hint");
  column->addLayout(titled(makeLabel("heading", tr("Confusion matrix")), m_matrixWords));
  auto* const tools = new QHBoxLayout;
  tools->setSpacing(8);
  m_unit = new SegmentedControl({tr("Counts"), tr("Percent")});
  m_unit->setObjectName("matrix-unit");
  m_unit->setAccessibleName(tr("What the cells tell"));
  m_order = new ChoiceField;
  m_order->setObjectName("matrix-order");
  m_order->addItems({tr("Sort: by class"), tr("Sort: by recall"), tr("Sort: by mix-ups")});
  m_wrongOnly = new Switch(tr("Wrong only"));
  m_wrongOnly->setObjectName("matrix-wrong-only");
  tools->addWidget(m_unit);
  tools->addWidget(m_order);
  tools->addStretch();
  tools->addWidget(m_wrongOnly);
  column->addLayout(tools);
  m_matrix = new ConfusionView;
  m_matrix->setObjectName("confusion-matrix");
  column->addWidget(m_matrix);
  m_cellWords = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_cellWords->setObjectName("matrix-words");
  column->addWidget(m_cellWords);
  connect(m_unit, &SegmentedControl::currentChanged, m_matrix, [this](int index) { m_matrix->setPercent(index == 1); });
  connect(m_order, &QComboBox::currentIndexChanged, m_matrix,
          [this](int index) { m_matrix->setOrder(static_cast<ConfusionView::Order>(index)); });
  connect(m_wrongOnly, &Switch::toggled, m_matrix, &ConfusionView::setWrongOnly);
  connect(m_matrix, &ConfusionView::chosenChanged, this, &EvaluationBoard::matrixChosen);
  return part;
}

QWidget* EvaluationBoard::makeTable() {
  auto* const part = new QWidget;
  auto* const column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  part->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  m_tableTitle = makeLabel("heading");
  column->addWidget(m_tableTitle);
  m_table = new DataTable;
  m_table->setObjectName("class-table");
  m_table->setAccessibleName(tr("Figures of each class"));
  m_table->setModel(&m_sorted);
  m_table->setSortingEnabled(true);
  m_table->setSelectionMode(QAbstractItemView::SingleSelection);
  column->addWidget(m_table);
  connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &EvaluationBoard::rowChosen);
  return part;
}

QWidget* EvaluationBoard::makeSamples() {
  auto* const part = new QWidget;
  auto* const column = new QVBoxLayout(part);
  column->setContentsMargins(16, 12, 12, 12);
  column->setSpacing(8);
  m_sampleWords = makeLabel("hint");
  m_sampleWords->setObjectName("sample-words");
  column->addLayout(titled(makeLabel("heading", tr("Worst first")), m_sampleWords));
  m_filter = new SegmentedControl;
  m_filter->setObjectName("sample-filter");
  m_filter->setAccessibleName(tr("Which samples are shown"));
  auto* const tools = new QWidget;
  auto* const row = new FlowLayout(tools, 8);
  row->addWidget(m_filter);
  m_columns = new ChoiceField;
  m_columns->setObjectName("sample-columns");
  m_columns->setPrefix(tr("Columns"));
  for (const int count : {0, 2, 3, 4, 6}) m_columns->addItem(count == 0 ? tr("as fit") : QString::number(count), count);
  row->addWidget(m_columns);
  m_worstBy = new ChoiceField;
  m_worstBy->setObjectName("sample-worst-by");
  m_worstBy->setPrefix(tr("Worst by"));
  m_worstBy->addItem(tr("loss"), static_cast<int>(SampleChoice::loss));
  m_worstBy->addItem(tr("IoU"), static_cast<int>(SampleChoice::iou));
  row->addWidget(m_worstBy);
  column->addWidget(tools);
  m_cards = new SampleCards;
  m_cards->setObjectName("sample-cards");
  column->addWidget(m_cards, 1);
  m_panel = new SamplePanel;
  auto* const opened = new QWidget;
  auto* const edge = new QVBoxLayout(opened);
  edge->setContentsMargins(16, 12, 4, 0);
  edge->addWidget(m_panel);
  m_samples = new QStackedWidget;
  m_samples->addWidget(part);
  m_samples->addWidget(opened);
  // Below the cards, and below the one that is opened.
  auto* const both = new QWidget;
  auto* const stack = new QVBoxLayout(both);
  stack->setContentsMargins(0, 0, 0, 0);
  stack->setSpacing(0);
  stack->addWidget(m_samples, 1);
  m_maskTools = new MaskTools;
  stack->addWidget(m_maskTools);
  connect(m_maskTools, &MaskTools::changed, m_cards, &SampleCards::setMaskLook);
  connect(m_maskTools, &MaskTools::changed, m_panel, &SamplePanel::setMaskLook);
  connect(m_worstBy, &QComboBox::activated, this, &EvaluationBoard::applyFilter);
  connect(m_filter, &SegmentedControl::currentChanged, this, &EvaluationBoard::applyFilter);
  connect(m_columns, &QComboBox::activated, this,
          [this](int index) { m_cards->setColumns(m_columns->itemData(index).toInt()); });
  connect(m_cards, &SampleCards::activated, this, &EvaluationBoard::openSample);
  connect(m_panel, &SamplePanel::closed, this, &EvaluationBoard::closeSample);
  connect(m_panel, &SamplePanel::stepWanted, this, [this](int by) { openSample(m_cards->current() + by); });
  return both;
}

bool EvaluationBoard::showsSample() const {
  return m_samples->currentIndex() == 1;
}

void EvaluationBoard::openSample(int card) {
  const EvaluatedSample* const sample = m_cards->sample(card);
  if (!sample || !m_output) return;
  m_cards->choose(card);
  m_samples->setCurrentIndex(1);
  m_panel->setPlace(card, m_cards->count());
  m_panel->open(*m_output, *sample, m_cards->face(card));
  m_panel->setFocus(Qt::OtherFocusReason);
}

void EvaluationBoard::closeSample() {
  if (!showsSample()) return;
  m_samples->setCurrentIndex(0);
  m_cards->setFocus(Qt::OtherFocusReason);
}

void EvaluationBoard::setOther(std::shared_ptr<const EvaluationReport> other) {
  m_other = std::move(other);
  m_side->setChanges(changed(true).size(), changed(false).size());
  if (m_other || !m_changes) return;
  m_changes.reset();
  if (m_output) matrixChosen();
}

const EvaluatedOutput* EvaluationBoard::output() const {
  return m_output.get();
}

void EvaluationBoard::setReport(std::shared_ptr<const EvaluationReport> report) {
  m_report = std::move(report);
  m_outputs->clear();
  for (const EvaluatedOutput& each : m_report->outputs) m_outputs->addItem(QString::fromStdString(each.name));
  m_outputs->setVisible(m_report->outputs.size() > 1);
  showOutput(0);
}

void EvaluationBoard::showOutput(int index) {
  if (index < 0 || index >= static_cast<int>(m_report->outputs.size())) return;
  // The output lives as long as its report.
  m_output = {m_report, &m_report->outputs[static_cast<std::size_t>(index)]};
  const bool classes = m_output->kind == EvaluatedOutput::classes, numbers = m_output->kind == EvaluatedOutput::numbers;
  QStringList words;
  for (const std::string& each : m_output->words) words << QString::fromStdString(each);
  m_following = true;
  m_matrixPart->setVisible(classes);
  if (classes) m_matrix->setMatrix(words, m_output->cells);
  m_matrixWords->setText(m_matrix->foldsClasses() && classes
                             ? tr("rows true, columns predicted; the %1 of %2 classes confused most")
                                   .arg(ConfusionView::kMost)
                                   .arg(words.size())
                             : tr("rows true, columns predicted"));
  m_tableTitle->setText(numbers                                     ? tr("Per value")
                        : m_output->kind == EvaluatedOutput::labels ? tr("Per label")
                                                                    : tr("Per class, %"));
  m_model.setOutput(*m_output);
  m_table->setColumns(m_model.columns());
  m_table->sortByColumn(2, Qt::AscendingOrder);
  m_table->horizontalHeader()->setStretchLastSection(true);
  const int rows = std::min(m_model.rowCount(), kTableRows);
  m_table->setFixedHeight(m_table->horizontalHeader()->sizeHint().height() +
                          rows * m_table->verticalHeader()->defaultSectionSize() + 4);
  m_table->clearSelection();
  m_table->setCurrentIndex({});
  m_following = false;
  m_side->setOutput(*m_output);
  closeSample();
  m_changes.reset();
  m_cards->setOutput(m_output);
  const bool map = m_output->isMap();
  m_maskTools->setVisible(map);
  m_worstBy->setVisible(map);
  if (map) m_maskTools->setClasses(words);
  showCurves(-1);
  matrixChosen();
}

void EvaluationBoard::showCurves(int strong) {
  if (m_output->kind == EvaluatedOutput::numbers) {
    m_first->setPlot(truePredictedPlot(*m_output, &m_points));
    m_second->setPlot(residualPlot(*m_output));
    return;
  }
  m_points.clear();
  m_first->setPlot(rocPlot(*m_output, strong));
  m_second->setPlot(precisionRecallPlot(*m_output, strong));
}

void EvaluationBoard::placeSide() {
  const bool narrow = width() < kNarrowBoard, isAbove = m_sideScroll->widget() == nullptr;
  m_sideScroll->setVisible(!narrow);
  m_sideLine->setVisible(!narrow);
  if (narrow == isAbove) return;
  m_side->setAbove(narrow);
  if (narrow) {
    m_left->insertWidget(0, m_sideScroll->takeWidget());
  } else {
    m_left->removeWidget(m_side);
    m_sideScroll->setWidget(m_side);
    m_side->setAutoFillBackground(false);
  }
  m_side->show();
}

void EvaluationBoard::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  placeSide();
}

}  // namespace loom

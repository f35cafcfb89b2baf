// Which samples of an evaluation are shown: of a cell, of a class, wrong, least sure, or judged otherwise by another
// run.
#include <QLabel>
#include <algorithm>
#include <map>

#include "app/pages/training/evaluation_board.h"
#include "widgets/chart/format.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/evaluation/confusion_view.h"
#include "widgets/evaluation/sample_cards.h"
#include "widgets/table/data_table.h"

namespace loom {

void EvaluationBoard::showChanges(bool nowRight) {
  if (!m_output) return;
  closeSample();
  m_changes = nowRight ? Filter::nowRight : Filter::nowWrong;
  showFilters(*m_changes);
}

// Those that the other run and this one do not judge alike, worst first here.
std::vector<std::size_t> EvaluationBoard::changed(bool nowRight) const {
  std::vector<std::size_t> places;
  if (!m_other || !m_output || m_output->kind == EvaluatedOutput::numbers) return places;
  const auto output = std::find_if(m_other->outputs.begin(), m_other->outputs.end(),
                                   [this](const EvaluatedOutput& each) { return each.name == m_output->name; });
  if (output == m_other->outputs.end()) return places;
  std::map<std::int64_t, bool> right;
  for (const EvaluatedSample& each : output->worst) right[each.sample] = each.right;
  for (std::size_t i = 0; i < m_output->worst.size(); ++i) {
    const EvaluatedSample& each = m_output->worst[i];
    const auto before = right.find(each.sample);
    if (before != right.end() && each.right == nowRight && before->second != nowRight) places.push_back(i);
  }
  return places;
}

void EvaluationBoard::matrixChosen() {
  if (m_following || !m_output) return;
  m_following = true;
  const bool classes = m_output->kind == EvaluatedOutput::classes;
  const auto cell = classes ? m_matrix->chosen() : std::nullopt;
  if (cell) {
    const std::int64_t count = m_matrix->count(*cell);
    const QString counts = m_output->isMap()             ? tr("pixels")
                           : m_output->positions.empty() ? tr("samples")
                                                         : tr("positions");
    QString words = tr("%1: %2").arg(m_matrix->words(*cell), counted(count, counts));
    if (cell->truth >= 0 && cell->predicted >= 0) {
      const auto all = static_cast<double>(m_matrix->count({cell->truth, ConfusionView::kAll}));
      if (all > 0)
        words += tr(", %1 of all %2")
                     .arg(formatPercent(static_cast<double>(count) / all, 1),
                          QString::fromStdString(m_output->words[static_cast<std::size_t>(cell->truth)]));
    }
    m_cellWords->setText(words);
    const int of = cell->truth >= 0 ? cell->truth : cell->predicted;
    const QModelIndex row = m_sorted.mapFromSource(m_model.index(of, 0));
    m_table->setCurrentIndex(row);
    m_table->scrollTo(row);
    showCurves(of);
  } else {
    m_cellWords->setText(
        m_output->positions.empty()
            ? tr("Click a cell, or move with the arrow keys: its samples stand beside it.")
            : tr("Click a cell, or move with the arrow keys: beside it stand the samples whose worst place it is."));
    m_table->clearSelection();
    m_table->setCurrentIndex({});
    showCurves(-1);
  }
  m_following = false;
  const bool wrong = m_output->kind != EvaluatedOutput::numbers && m_output->right < m_output->items;
  showFilters(cell ? Filter::chosen : wrong ? Filter::wrong : Filter::all);
}

// A class in the table is its row of the matrix.
void EvaluationBoard::rowChosen() {
  if (m_following || !m_output) return;
  const QModelIndex row = m_sorted.mapToSource(m_table->currentIndex());
  if (!row.isValid()) return;
  if (m_output->kind == EvaluatedOutput::classes)
    m_matrix->setChosen(ConfusionView::Cell{row.row(), ConfusionView::kAll});
  else if (m_output->kind == EvaluatedOutput::labels)
    showCurves(row.row());
}

void EvaluationBoard::showFilters(Filter::Kind current) {
  m_filters.clear();
  if (m_output->kind != EvaluatedOutput::numbers) {
    const std::size_t wrong = choose(m_output->worst, {.wrongOnly = true}).size();
    m_filters << Filter{Filter::wrong, tr("All wrong %1").arg(formatCount(static_cast<double>(wrong)))};
  }
  if (m_output->kind == EvaluatedOutput::classes) {
    if (const auto cell = m_matrix->chosen())
      m_filters << Filter{Filter::chosen, tr("%1: %2").arg(m_matrix->words(*cell),
                                                           formatCount(static_cast<double>(m_matrix->count(*cell))))};
    m_filters << Filter{Filter::leastSure, tr("Least sure")};
  }
  m_filters << Filter{Filter::all, tr("All")};
  if (m_changes)
    m_filters << Filter{*m_changes,
                        (*m_changes == Filter::nowRight ? tr("Now right: %1") : tr("Now wrong: %1"))
                            .arg(formatCount(static_cast<double>(changed(*m_changes == Filter::nowRight).size())))};
  QStringList names;
  int index = 0;
  for (const Filter& each : m_filters) {
    if (each.kind == current) index = static_cast<int>(names.size());
    names << each.name;
  }
  const QSignalBlocker quiet(m_filter);
  m_filter->setLabels(names);
  m_filter->setCurrent(index);
  m_filter->setVisible(names.size() > 1);
  applyFilter();
}

void EvaluationBoard::applyFilter() {
  if (!m_output || m_filter->current() < 0 || m_filter->current() >= m_filters.size()) return;
  const Filter& filter = m_filters[m_filter->current()];
  SampleChoice choice;
  choice.wrongOnly = filter.kind == Filter::wrong;
  if (m_output->isMap()) choice.order = static_cast<SampleChoice::Order>(m_worstBy->currentData().toInt());
  if (filter.kind == Filter::leastSure) choice.order = SampleChoice::leastSure;
  if (filter.kind == Filter::chosen) {
    const auto cell = m_matrix->chosen();
    if (cell && cell->truth >= 0) choice.truth = cell->truth;
    if (cell && cell->predicted >= 0) choice.predicted = cell->predicted;
  }
  const bool changes = filter.kind == Filter::nowRight || filter.kind == Filter::nowWrong;
  std::vector<std::size_t> places =
      changes ? changed(filter.kind == Filter::nowRight) : choose(m_output->worst, choice);
  closeSample();
  sayPlaces(filter, places.size());
  m_cards->setPlaces(std::move(places));
}

void EvaluationBoard::sayPlaces(const Filter& filter, std::size_t count) {
  QString words = tr("%1 of %2, %3")
                      .arg(formatCount(static_cast<double>(count)), formatCount(static_cast<double>(m_report->samples)),
                           filter.kind == Filter::leastSure             ? tr("least sure first")
                           : m_output->isMap()                          ? tr("by %1").arg(m_worstBy->currentText())
                           : m_output->kind == EvaluatedOutput::classes ? tr("by loss; predicted, true, next in %")
                                                                        : tr("by squared error"));
  if (static_cast<std::int64_t>(m_output->worst.size()) < m_report->samples)
    words += tr("; of the %1 worst").arg(formatCount(static_cast<double>(m_output->worst.size())));
  m_sampleWords->setText(words);
}

}  // namespace loom

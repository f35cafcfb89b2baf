#include "app/shell/problems_panel.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "app/problem_list.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kRowsInSight = 3, kLargestHeight = 240, kAroundSentence = 8;
constexpr double kLargestShare = 0.3;  // of the window

}  // namespace

ProblemsPanel::ProblemsPanel(Workspace& workspace, QWidget* parent)
    : QFrame(parent), m_workspace(workspace), m_list(new QListWidget) {
  setProperty("kind", "panel");
  setObjectName("problems");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(20, 4, 8, 4);
  auto* title = new QLabel(tr("Problems"));
  title->setProperty("kind", "section");
  auto* close = iconButton("close", tr("Close the list (Ctrl+J)"));
  head->addWidget(title);
  head->addStretch();
  head->addWidget(close);
  column->addLayout(head);
  column->addWidget(m_list);
  m_list->setAccessibleName(tr("Problems"));
  m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  connect(close, &Button::clicked, this, [this] { leave(holdsKeyboard()); });
  connect(&workspace.problems(), &ProblemList::changed, this, &ProblemsPanel::rebuild);
  connect(&Theme::of(this), &Theme::changed, this, &ProblemsPanel::rebuild);
  const auto go = [this](QListWidgetItem* item) { lead(m_list->row(item)); };
  connect(m_list, &QListWidget::itemClicked, this, go);
  connect(m_list, &QListWidget::itemActivated, this, go);
}

void ProblemsPanel::setPageProblems(const QString& page, std::vector<PageProblem> problems) {
  m_workspace.problems().setOfPage(page, std::move(problems));
}

void ProblemsPanel::refresh() {
  rebuild();
}

void ProblemsPanel::rebuild() {
  m_problems = m_workspace.problems().all();
  m_errors = static_cast<int>(std::count_if(m_problems.begin(), m_problems.end(),
                                            [](const PageProblem& each) { return each.severity == Severity::error; }));
  m_warnings = static_cast<int>(m_problems.size()) - m_errors;

  const FocusKeeper keeper(*m_list, m_list);
  const bool held = holdsKeyboard();  // what does goes with the rows
  const int row = m_list->currentRow(), scrolled = m_list->verticalScrollBar()->value();
  m_list->clear();
  for (const PageProblem& each : m_problems) {
    auto* line = new QWidget;
    auto* parts = new QHBoxLayout(line);
    parts->setContentsMargins(20, 0, 12, 0);
    parts->setSpacing(10);
    const bool error = each.severity == Severity::error;
    parts->addWidget(
        new IconLabel(error ? "status-failed" : "status-warning", error ? Colour::error : Colour::warning, 14));
    auto* place = new QLabel(each.placeText);
    place->setProperty("kind", "label");
    keepWidth(place, 150);
    place->setTextFormat(Qt::PlainText);
    parts->addWidget(place);
    parts->addWidget(makeLabel("", each.message, nullptr, Wrap::yes), 1);
    if (each.remedy) {
      auto* remedy = new Button(each.remedyText, ButtonKind::link);
      connect(remedy, &Button::clicked, this, each.remedy);
      parts->addWidget(remedy);
    }
    auto* item = new QListWidgetItem(m_list);
    item->setData(Qt::AccessibleTextRole, each.placeText + ": " + each.message);
    m_list->setItemWidget(item, line);
  }
  if (m_problems.empty())
    leave(held);
  else
    m_list->setCurrentRow(std::clamp(row, 0, static_cast<int>(m_problems.size()) - 1));
  fitRows();
  // Whoever presses one remedy after another stays where they are.
  m_list->doItemsLayout();
  m_list->verticalScrollBar()->setValue(scrolled);
  Q_EMIT countsChanged();
}

// A sentence stands whole, and the first rows without scrolling, in a small window and in large text too.
void ProblemsPanel::fitRows() {
  const Theme& theme = Theme::of(this);
  const int width = m_list->viewport()->width();
  int wanted = layout()->itemAt(0)->sizeHint().height() + 2;
  for (int row = 0; row < m_list->count(); ++row) {
    const QWidget* const line = m_list->itemWidget(m_list->item(row));
    const int height = std::max(theme.size(Size::tableRow), line->layout()->heightForWidth(width) + kAroundSentence);
    m_list->item(row)->setSizeHint({0, height});
    if (row < kRowsInSight) wanted += height;
  }
  const int least = std::min(wanted, static_cast<int>(kLargestShare * window()->height()));
  setMinimumHeight(least);
  setMaximumHeight(std::max(least, kLargestHeight * theme.textSize() / 100));
}

void ProblemsPanel::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  // When the list has its new width too.
  if (event->oldSize().width() != event->size().width())
    QMetaObject::invokeMethod(this, &ProblemsPanel::fitRows, Qt::QueuedConnection);
}

bool ProblemsPanel::holdsKeyboard() const {
  return QApplication::focusWidget() && isAncestorOf(QApplication::focusWidget());
}

void ProblemsPanel::leave(bool held) {
  hide();
  if (held) Q_EMIT leftWithKeyboard();
}

void ProblemsPanel::step(int direction) {
  if (m_problems.empty()) return;
  const int count = static_cast<int>(m_problems.size());
  const bool open = isVisible();
  show();
  const int row = open ? (m_list->currentRow() + direction + count) % count : direction > 0 ? 0 : count - 1;
  m_list->setCurrentRow(row);
  lead(row);
}

// By a copy: the page that it leads to may find other problems at once.
void ProblemsPanel::lead(int row) {
  const Place place = m_problems[static_cast<std::size_t>(row)].place;
  Q_EMIT wanted(place);
}

QStringList ProblemsPanel::pagesWithErrors() const {
  QStringList pages;
  for (const PageProblem& each : m_problems)
    if (each.severity == Severity::error && !pages.contains(each.place.page)) pages << each.place.page;
  return pages;
}

void ProblemsPanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape)
    leave(holdsKeyboard());
  else
    QFrame::keyPressEvent(event);
}

}  // namespace loom

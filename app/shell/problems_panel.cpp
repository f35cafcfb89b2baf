#include "app/shell/problems_panel.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/icon_label.h"
#include "widgets/theme/theme.h"

namespace loom {

ProblemsPanel::ProblemsPanel(Workspace& workspace, QWidget* parent) : QFrame(parent), m_workspace(workspace), m_list(new QListWidget) {
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
  connect(close, &Button::clicked, this, &QWidget::hide);
  const auto go = [this](QListWidgetItem* item) { Q_EMIT wanted(m_problems[static_cast<std::size_t>(m_list->row(item))].place); };
  connect(m_list, &QListWidget::itemClicked, this, go);
  connect(m_list, &QListWidget::itemActivated, this, go);
}

PageProblem ProblemsPanel::fromDocument(const Problem& problem, Workspace& workspace) {
  PageProblem shown;
  shown.severity = problem.severity;
  shown.message = QString::fromStdString(problem.message);
  const QString network = QString::fromStdString(problem.network), node = QString::fromStdString(problem.node);
  const QString field = QString::fromStdString(problem.field);
  shown.place.network = network;
  shown.place.node = node;
  shown.place.field = field;
  if (!node.isEmpty() || problem.edge) {
    shown.place.page = "network";
    shown.placeText = network == "main" ? node : network + " / " + node;
  } else if (field.startsWith("datasets")) {
    shown.place.page = "data";
    shown.place.dataset = field.section('.', 1, 1);
    shown.placeText = shown.place.dataset.isEmpty() ? tr("data") : tr("dataset %1").arg(shown.place.dataset);
  } else if (field.startsWith("training")) {
    shown.place.page = "settings";
    shown.placeText = tr("settings");
  } else {
    shown.place.page = "network";
    shown.placeText = network;
  }
  if (problem.remedy.kind != Remedy::Kind::none) {
    shown.remedyText = QString::fromStdString(problem.remedy.label);
    shown.remedy = [problem, &workspace] {
      if (workspace.document()) workspace.document()->applyRemedy(problem);
    };
  }
  return shown;
}

void ProblemsPanel::setPageProblems(const QString& page, std::vector<PageProblem> problems) {
  m_ofPages[page] = std::move(problems);
  rebuild();
}

void ProblemsPanel::forgetPages() { m_ofPages.clear(); }

void ProblemsPanel::refresh() { rebuild(); }

void ProblemsPanel::rebuild() {
  m_problems.clear();
  if (ProjectDocument* const document = m_workspace.document())
    for (const Problem& each : document->problems()) m_problems.push_back(fromDocument(each, m_workspace));
  for (const auto& each : std::as_const(m_ofPages)) m_problems.insert(m_problems.end(), each.begin(), each.end());
  std::stable_sort(m_problems.begin(), m_problems.end(), [](const PageProblem& a, const PageProblem& b) { return a.severity < b.severity; });
  m_errors = static_cast<int>(std::count_if(m_problems.begin(), m_problems.end(), [](const PageProblem& each) { return each.severity == Severity::error; }));
  m_warnings = static_cast<int>(m_problems.size()) - m_errors;

  const int row = m_list->currentRow();
  m_list->clear();
  for (const PageProblem& each : m_problems) {
    auto* line = new QWidget;
    auto* parts = new QHBoxLayout(line);
    parts->setContentsMargins(20, 0, 12, 0);
    parts->setSpacing(10);
    const bool error = each.severity == Severity::error;
    parts->addWidget(new IconLabel(error ? "status-failed" : "status-warning", error ? Colour::error : Colour::warning, 14));
    auto* place = new QLabel(each.placeText);
    place->setProperty("kind", "label");
    place->setFixedWidth(150);
    place->setTextFormat(Qt::PlainText);
    parts->addWidget(place);
    auto* message = new QLabel(each.message);
    message->setTextFormat(Qt::PlainText);
    message->setToolTip(each.message);
    message->setMinimumWidth(60);
    parts->addWidget(message, 1);
    if (each.remedy) {
      auto* remedy = new Button(each.remedyText, ButtonKind::link);
      connect(remedy, &Button::clicked, this, each.remedy);
      parts->addWidget(remedy);
    }
    auto* item = new QListWidgetItem(m_list);
    item->setSizeHint({0, Theme::of(this).size(Size::tableRow)});
    item->setData(Qt::AccessibleTextRole, each.placeText + ": " + each.message);
    m_list->setItemWidget(item, line);
  }
  if (m_problems.empty()) hide();
  else m_list->setCurrentRow(std::clamp(row, 0, static_cast<int>(m_problems.size()) - 1));
  Q_EMIT countsChanged();
}

void ProblemsPanel::step(int direction) {
  if (m_problems.empty()) return;
  const int count = static_cast<int>(m_problems.size());
  const bool open = isVisible();
  show();
  const int row = open ? (m_list->currentRow() + direction + count) % count : direction > 0 ? 0 : count - 1;
  m_list->setCurrentRow(row);
  Q_EMIT wanted(m_problems[static_cast<std::size_t>(row)].place);
}

QStringList ProblemsPanel::pagesWithErrors() const {
  QStringList pages;
  for (const PageProblem& each : m_problems)
    if (each.severity == Severity::error && !pages.contains(each.place.page)) pages << each.place.page;
  return pages;
}

void ProblemsPanel::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) hide();
  else QFrame::keyPressEvent(event);
}

}  // namespace loom

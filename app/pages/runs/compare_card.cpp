#include "app/pages/runs/compare_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMostRuns = 8;
const QString kNothing = QStringLiteral("–");

}  // namespace

CompareCard::CompareCard(const QList<RunRecord>& all, const QStringList& keys, const RunMetrics& metrics,
                         QWidget* window)
    : Popover(window) {
  setObjectName("compare-card");
  const QList<RunRecord> runs = all.mid(0, kMostRuns);
  auto* title = new QLabel(all.size() > kMostRuns ? tr("The first %1 of %2 runs").arg(kMostRuns).arg(all.size())
                                                  : counted(runs.size(), tr("runs")));
  title->setProperty("kind", "heading");
  contentLayout()->addWidget(title);
  auto* inner = new QWidget;
  inner->setProperty("kind", "scrolled");  // on the ground of the card
  auto* grid = new QGridLayout(inner);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(24);
  grid->setVerticalSpacing(6);
  int row = 0;
  const auto add = [&](const QString& name, const std::function<QString(const RunRecord&)>& text, bool number,
                       bool mark) {
    auto* head = new QLabel(name);
    head->setProperty("kind", "label");
    grid->addWidget(head, row, 0);
    const QString first = text(runs.front());
    for (int i = 0; i < runs.size(); ++i) {
      const QString words = text(runs[i]);
      auto* cell = new QLabel(words);
      cell->setProperty("kind", mark && words != first ? "warning" : number ? "number" : "");
      cell->setTextFormat(Qt::PlainText);
      if (number) cell->setFont(Theme::of(window).numberFont());
      cell->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
      grid->addWidget(cell, row, i + 1);
    }
    ++row;
  };
  add(
      {}, [](const RunRecord& run) { return run.name; }, false, false);
  add(tr("State"), stateWords, false, false);
  add(
      tr("Best"), [&](const RunRecord& run) { return run.bestStep >= 0 ? metrics.text(run, run.best) : kNothing; },
      true, false);
  add(
      tr("Loss"), [](const RunRecord& run) { return run.step > 0 ? formatLoss(run.loss) : kNothing; }, true, false);
  add(
      tr("Duration"), [](const RunRecord& run) { return run.duration > 0 ? formatDuration(run.duration) : kNothing; },
      true, false);
  for (const QString& key : keys)
    add(
        labelOfSetting(key),
        [&](const RunRecord& run) {
          const auto value = run.settings.find(key.toStdString());
          return value == run.settings.end() ? kNothing : textOfSetting(key, *value);
        },
        true, true);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(inner);
  const QSize wanted = inner->sizeHint();
  scroll->setFixedSize(std::min(wanted.width() + 16, window->width() - 160),
                       std::min(wanted.height() + 16, window->height() - 220));
  contentLayout()->addWidget(scroll);
}

}  // namespace loom

#include "app/pages/data/preparation_panel.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/data/preparation_preview.h"
#include "app/pages/data/step_edits.h"
#include "app/pages/data/step_words.h"
#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/loader.h"
#include "engine/data/stats.h"
#include "widgets/controls/button.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/controls/text.h"
#include "widgets/form/property_form.h"
#include "widgets/theme/theme.h"

namespace loom {

PreparationPanel::PreparationPanel(QWidget* parent) : QWidget(parent) {
  // Large text wants more lines for the steps.
  const auto keepRoom = [this] { setMinimumHeight(170 * Theme::of(this).textSize() / 100); };
  keepRoom();
  connect(&Theme::of(this), &Theme::changed, this, keepRoom);
  setBackgroundRole(QPalette::Base);
  setAutoFillBackground(true);
  m_note = makeLabel("hint");
  m_menu = new QMenu(this);
  for (const Entry* entry : prepareEntries()) {
    QAction* action = m_menu->addAction(QString::fromStdString(entry->label));
    action->setToolTip(QString::fromStdString(entry->summary));
    connect(action, &QAction::triggered, this, [this, id = entry->id] { addStep({{"step", id}}); });
  }
  m_menu->setToolTipsVisible(true);
  m_add = new Button(QStringLiteral("plus"), QStringLiteral("Add step"), ButtonKind::plain);
  m_add->setMenu(m_menu);
  m_left = iconButton(QStringLiteral("chevron-left"), QStringLiteral("Move the step to the front (Alt+Left)"));
  m_right = iconButton(QStringLiteral("chevron-right"), QStringLiteral("Move the step to the back (Alt+Right)"));
  m_remove = iconButton(QStringLiteral("delete"), QStringLiteral("Remove the step (Delete)"));
  m_remove->setObjectName("remove-step");
  connect(m_left, &QPushButton::clicked, this, [this] { moveStep(-1); });
  connect(m_right, &QPushButton::clicked, this, [this] { moveStep(1); });
  connect(m_remove, &QPushButton::clicked, this, &PreparationPanel::removeStep);
  auto* bar = new QHBoxLayout;
  bar->setSpacing(8);
  bar->addWidget(makeLabel("heading", tr("Preparation")));
  bar->addWidget(m_note, 1);
  bar->addWidget(m_add);
  bar->addWidget(m_left);
  bar->addWidget(m_right);
  bar->addWidget(m_remove);

  m_chipsPlace = new QWidget;
  m_chips = new FlowLayout(m_chipsPlace, 6);
  QSizePolicy flows(QSizePolicy::Preferred, QSizePolicy::Minimum);
  flows.setHeightForWidth(true);
  m_chipsPlace->setSizePolicy(flows);

  m_form = new PropertyForm(FormStyle::page);
  connect(m_form, &PropertyForm::edited, this, [this](const QString& key, const Json& value) {
    if (m_selected < 0) return;
    Json& step = m_steps[static_cast<std::size_t>(m_selected)];
    if (value.is_null())
      step.erase(key.toStdString());
    else
      step[key.toStdString()] = value;
    changed();
  });
  m_form->setBackgroundRole(QPalette::Base);
  m_unseen = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_unseen->setObjectName("step-and-the-new");
  auto* inside = new QWidget;
  inside->setBackgroundRole(QPalette::Base);
  auto* formColumn = new QVBoxLayout(inside);
  formColumn->setContentsMargins(0, 0, 0, 0);
  formColumn->addWidget(m_form);
  formColumn->addWidget(m_unseen);
  formColumn->addStretch();
  auto* scroll = new QScrollArea;
  scroll->setWidget(inside);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_formPlace = scroll;
  m_formPlace->setMinimumWidth(320);
  m_formPlace->setMaximumWidth(516);
  m_formPlace->hide();
  m_preview = new PreparationPreview;
  m_change = new ColumnChange;
  m_previews = new QStackedWidget;
  m_previews->addWidget(m_change);
  m_previews->addWidget(m_preview);
  m_feeds = new FeedsBar;
  auto* row = new QHBoxLayout;
  row->setSpacing(24);
  row->addWidget(m_formPlace, 1);
  row->addWidget(m_previews, 2);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 10, 20, 8);
  column->setSpacing(8);
  column->addLayout(bar);
  column->addWidget(m_chipsPlace);
  column->addLayout(row, 1);
  column->addWidget(m_feeds);
}

void PreparationPanel::setSteps(const std::vector<Json>& steps, const QString& note) {
  m_note->setText(note);
  const bool same = steps.size() == m_steps.size() &&
                    std::equal(steps.begin(), steps.end(), m_steps.begin(),
                               [](const Json& a, const Json& b) { return prepareEntry(a) == prepareEntry(b); });
  const bool added = steps.size() > m_steps.size();
  // A step that came from elsewhere (a remedy) is the one to look at.
  int news = -1;
  for (int i = 0; added && news < 0 && i < static_cast<int>(steps.size()); ++i)
    if (i >= static_cast<int>(m_steps.size()) ||
        steps[static_cast<std::size_t>(i)] != m_steps[static_cast<std::size_t>(i)])
      news = i;
  const bool equal = steps == m_steps;
  m_steps = steps;
  if (equal && m_selected < static_cast<int>(m_steps.size())) return;
  showSteps();
  if (same && m_selected < static_cast<int>(m_steps.size())) {
    if (m_selected >= 0) {
      Json given = m_steps[static_cast<std::size_t>(m_selected)];
      given.erase("step");
      m_form->setGiven(given);
      m_unseen->setText(stepAndTheNew(m_steps[static_cast<std::size_t>(m_selected)]));
    }
    m_formPlace->setVisible(m_selected >= 0);
    rebuildChips();
    return;
  }
  select(news >= 0 ? news : std::min(m_selected, static_cast<int>(m_steps.size()) - 1));
}

void PreparationPanel::setProposals(std::vector<ProposedStep> proposals) {
  const auto words = [](const std::vector<ProposedStep>& of) {
    QStringList texts;
    for (const ProposedStep& each : of) texts << each.text;
    return texts;
  };
  const bool same = words(proposals) == words(m_proposals);
  m_proposals = std::move(proposals);
  if (!same) rebuildChips();
}

void PreparationPanel::setMeasured(const std::vector<Json>& asked, const std::vector<Json>& steps) {
  if (asked == m_steps) m_preview->setSteps(steps);
}

void PreparationPanel::setChange(ColumnChangeShown change) {
  m_change->setShown(std::move(change));
}

void PreparationPanel::setTable(bool table) {
  m_table = table;
  showPreview();
}

bool PreparationPanel::showsColumns() const {
  return m_selected >= 0 ? isColumnStep(m_steps[static_cast<std::size_t>(m_selected)]) : m_table;
}

void PreparationPanel::showPreview() {
  m_previews->setCurrentIndex(showsColumns() ? 0 : 1);
}

void PreparationPanel::showSteps() {
  bool measure = false;
  try {
    measure = needsMeasuring(m_steps);
  } catch (const Error&) {
    // A faulty step: the preview says which.
  }
  if (measure)
    m_preview->setMeasuring(), Q_EMIT measureWanted(m_steps);
  else
    m_preview->setSteps(m_steps);
}

void PreparationPanel::setSample(PreparedSample sample) {
  m_preview->setSample(std::move(sample));
}

void PreparationPanel::rebuildChips() {
  int focused = -1;
  for (int index = 0; index < m_chips->count(); ++index)
    if (m_chips->itemAt(index)->widget()->hasFocus()) focused = index;
  while (QLayoutItem* item = m_chips->takeAt(0)) {
    item->widget()->hide();
    item->widget()->deleteLater();  // it may be the one that was just pressed
    delete item;
  }
  QList<QWidget*> chips;
  const auto add = [&](Button* chip, const char* name) {
    chip->setObjectName(QString::fromLatin1(name));
    chip->installEventFilter(this);
    m_chips->addWidget(chip);
    chip->show();
    chips << chip;
  };
  for (int index = 0; index < static_cast<int>(m_steps.size()); ++index) {
    const Json& step = m_steps[static_cast<std::size_t>(index)];
    auto* chip = new Button(QStringLiteral("%1  %2").arg(index + 1).arg(stepWords(step)),
                            !prepareEntry(step)   ? ButtonKind::fault
                            : index == m_selected ? ButtonKind::tinted
                                                  : ButtonKind::outlined);
    connect(chip, &QPushButton::clicked, this, [this, index] { select(index == m_selected ? -1 : index); });
    add(chip, "prepare-step");
  }
  for (const ProposedStep& each : m_proposals) {
    auto* chip = new Button(each.text, ButtonKind::outlined);
    setStyleProperty(chip, "proposed", true);
    chip->setToolTip(tr("Proposed by the doctor; a click adds the step"));
    connect(chip, &QPushButton::clicked, this, each.accept, Qt::QueuedConnection);
    add(chip, "proposed-step");
  }
  m_chipsPlace->setVisible(!chips.isEmpty());
  m_chipsPlace->updateGeometry();
  tabBefore(*m_add, chips);
  if (focused >= 0 && !chips.isEmpty())
    chips[std::min<qsizetype>(focused, chips.size() - 1)]->setFocus(Qt::TabFocusReason);
  m_left->setEnabled(m_selected > 0);
  m_right->setEnabled(m_selected >= 0 && m_selected + 1 < static_cast<int>(m_steps.size()));
  m_remove->setEnabled(m_selected >= 0);
}

bool PreparationPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress && watched->objectName() == QLatin1String("prepare-step")) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool moves = key->modifiers() == Qt::AltModifier;
    if (moves && key->key() == Qt::Key_Left && m_left->isEnabled()) return moveStep(-1), true;
    if (moves && key->key() == Qt::Key_Right && m_right->isEnabled()) return moveStep(1), true;
    if (key->key() == Qt::Key_Delete && m_remove->isEnabled()) return removeStep(), true;
  }
  return QWidget::eventFilter(watched, event);
}

void PreparationPanel::select(int index) {
  m_selected = index;
  const Json none, &step = index >= 0 ? m_steps[static_cast<std::size_t>(index)] : none;
  const Entry* entry = index >= 0 ? prepareEntry(step) : nullptr;
  if (entry) {
    Json given = step;
    given.erase("step");
    m_form->setEntry(*entry, given, QStringLiteral("prepare/%1").arg(index));
    m_unseen->setText(stepAndTheNew(step));
  } else {
    m_form->clear();
    m_unseen->clear();
  }
  m_formPlace->setVisible(entry != nullptr);
  rebuildChips();
  showPreview();
  Q_EMIT selectedChanged();
}

void PreparationPanel::changed() {
  showSteps();
  Q_EMIT edited(m_steps);
}

void PreparationPanel::addStep(const Json& step) {
  int place = 0;
  m_steps = withSteps(m_steps, {step}, &place);
  select(place);
  changed();
}

void PreparationPanel::moveStep(int by) {
  std::swap(m_steps[static_cast<std::size_t>(m_selected)], m_steps[static_cast<std::size_t>(m_selected + by)]);
  select(m_selected + by);
  changed();
}

void PreparationPanel::removeStep() {
  m_steps.erase(m_steps.begin() + m_selected);
  select(std::min(m_selected, static_cast<int>(m_steps.size()) - 1));
  changed();
}

bool PreparationPanel::settled() const {
  return !m_preview->busy();
}

}  // namespace loom

#include "app/pages/data/preparation_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/data/preparation_preview.h"
#include "engine/base/error.h"
#include "engine/data/loader.h"
#include "engine/data/prepare_step.h"
#include "engine/data/stats.h"
#include "widgets/controls/button.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/form/property_form.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

const Entry* entryOf(const Json& step) {
  const std::string id =
      step.is_object() && step.contains("step") && step["step"].is_string() ? step["step"].get<std::string>() : "";
  for (const Entry* entry : prepareEntries())
    if (entry->id == id) return entry;
  return nullptr;
}

}  // namespace

PreparationPanel::PreparationPanel(QWidget* parent) : QWidget(parent) {
  setMinimumHeight(150);
  setBackgroundRole(QPalette::Base);
  setAutoFillBackground(true);
  auto* title = new QLabel(QStringLiteral("Preparation"));
  title->setProperty("kind", "heading");
  m_note = new QLabel;
  m_note->setProperty("kind", "hint");
  m_chips = new QHBoxLayout;
  m_chips->setSpacing(6);
  m_menu = new QMenu(this);
  for (const Entry* entry : prepareEntries()) {
    QAction* action = m_menu->addAction(QString::fromStdString(entry->label));
    action->setToolTip(QString::fromStdString(entry->summary));
    connect(action, &QAction::triggered, this, [this, id = entry->id] { addStep({{"step", id}}); });
  }
  m_menu->setToolTipsVisible(true);
  m_add = new Button(QStringLiteral("plus"), QStringLiteral("Add step"), ButtonKind::plain);
  m_add->setMenu(m_menu);
  m_left = iconButton(QStringLiteral("chevron-left"), QStringLiteral("Move the step to the front"));
  m_right = iconButton(QStringLiteral("chevron-right"), QStringLiteral("Move the step to the back"));
  m_remove = iconButton(QStringLiteral("delete"), QStringLiteral("Remove the step"));
  connect(m_left, &QPushButton::clicked, this, [this] { moveStep(-1); });
  connect(m_right, &QPushButton::clicked, this, [this] { moveStep(1); });
  connect(m_remove, &QPushButton::clicked, this, &PreparationPanel::removeStep);

  auto* bar = new QHBoxLayout;
  bar->setSpacing(8);
  bar->addWidget(title);
  bar->addSpacing(8);
  bar->addLayout(m_chips);
  bar->addWidget(m_add);
  bar->addWidget(m_left);
  bar->addWidget(m_right);
  bar->addWidget(m_remove);
  bar->addWidget(m_note, 1);

  m_form = new PropertyForm(FormStyle::page);
  connect(m_form, &PropertyForm::edited, this, [this](const QString& key, const Json& value) {
    if (m_selected < 0) return;
    Json& step = m_steps[m_selected];
    if (value.is_null())
      step.erase(key.toStdString());
    else
      step[key.toStdString()] = value;
    changed();
  });
  auto* scroll = new QScrollArea;
  scroll->setWidget(m_form);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_form->setBackgroundRole(QPalette::Base);
  m_formPlace = scroll;
  m_formPlace->setMinimumWidth(320);
  m_formPlace->setMaximumWidth(516);
  m_preview = new PreparationPreview;
  auto* row = new QHBoxLayout;
  row->setSpacing(24);
  row->addWidget(m_formPlace, 1);
  row->addWidget(m_preview, 2);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 10, 20, 10);
  column->setSpacing(10);
  column->addLayout(bar);
  column->addLayout(row, 1);
}

void PreparationPanel::setSteps(const std::vector<Json>& steps, const QString& note) {
  m_note->setText(note);
  const bool same = steps.size() == m_steps.size() &&
                    std::equal(steps.begin(), steps.end(), m_steps.begin(),
                               [](const Json& a, const Json& b) { return entryOf(a) == entryOf(b); });
  m_steps = steps;
  showSteps();
  if (same && m_selected < static_cast<int>(m_steps.size())) {
    if (m_selected >= 0) {
      Json given = m_steps[m_selected];
      given.erase("step");
      m_form->setGiven(given);
    }
    m_formPlace->setVisible(m_selected >= 0);
    rebuildChips();
    return;
  }
  select(std::min(m_selected < 0 ? 0 : m_selected, static_cast<int>(m_steps.size()) - 1));
}

void PreparationPanel::setMeasured(const std::vector<Json>& asked, const std::vector<Json>& steps) {
  if (asked == m_steps) m_preview->setSteps(steps);
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

void PreparationPanel::setSample(std::shared_ptr<const Dataset> dataset, int row) {
  m_preview->setSample(std::move(dataset), row);
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
  for (int index = 0; index < static_cast<int>(m_steps.size()); ++index) {
    const Entry* entry = entryOf(m_steps[index]);
    auto* chip = new Button(entry ? QString::fromStdString(entry->label) : QStringLiteral("unknown step"),
                            index == m_selected ? ButtonKind::tinted
                            : entry             ? ButtonKind::outlined
                                                : ButtonKind::fault);
    chip->setObjectName(QStringLiteral("prepare-step"));
    connect(chip, &QPushButton::clicked, this, [this, index] { select(index); });
    m_chips->addWidget(chip);
    chip->show();
    chips << chip;
  }
  tabBefore(*m_add, chips);
  if (focused >= 0 && !chips.isEmpty())
    chips[std::min<qsizetype>(focused, chips.size() - 1)]->setFocus(Qt::TabFocusReason);
  m_left->setEnabled(m_selected > 0);
  m_right->setEnabled(m_selected >= 0 && m_selected + 1 < static_cast<int>(m_steps.size()));
  m_remove->setEnabled(m_selected >= 0);
}

void PreparationPanel::select(int index) {
  m_selected = index;
  const Entry* entry = index >= 0 ? entryOf(m_steps[index]) : nullptr;
  if (entry) {
    Json given = m_steps[index];
    given.erase("step");
    m_form->setEntry(*entry, given, QStringLiteral("prepare/%1").arg(index));
  } else {
    m_form->clear();
  }
  m_formPlace->setVisible(entry != nullptr);
  rebuildChips();
}

void PreparationPanel::changed() {
  showSteps();
  Q_EMIT edited(m_steps);
}

void PreparationPanel::addStep(const Json& step) {
  // What works on columns comes before all that works on samples; what computes pixels works on them as they are
  // stored, before the first step that changes values.
  const PrepareStep* const kind = sampleStep(step);
  auto place = m_steps.end();
  if (!kind)
    place = std::find_if(m_steps.begin(), m_steps.end(), [](const Json& each) { return sampleStep(each) != nullptr; });
  else if (kind->computes)
    place = std::find_if(m_steps.begin(), m_steps.end(), [](const Json& each) {
      const PrepareStep* const other = sampleStep(each);
      return other && other->values;
    });
  const auto added = m_steps.insert(place, step);
  select(static_cast<int>(added - m_steps.begin()));
  changed();
}

void PreparationPanel::moveStep(int by) {
  std::swap(m_steps[m_selected], m_steps[m_selected + by]);
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

#include "app/pages/settings/changes_card.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/run_settings.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"

namespace loom {
namespace {

QString labelOf(const std::string& path) {
  if (path == "ranks") return QObject::tr("Ranks");
  if (path == "loss.smoothing") return QObject::tr("Smoothing of the loss");
  if (path == "loss.definition") return QObject::tr("Definition of the smoothing");
  return labelOfSetting(QString::fromStdString(path));
}

QString valueOf(const std::string& path, const Json& value) {
  if (!value.is_array()) return textOfSetting(QString::fromStdString(path), value);
  QStringList parts;
  for (const Json& each : value) parts << textOfSetting(QString(), each);
  return parts.isEmpty() ? QStringLiteral("–") : parts.join(QStringLiteral(", "));
}

QLabel* cell(const QString& text, bool bold, const char* kind = "number") {
  QLabel* label = makeLabel(kind, text, nullptr, Wrap::yes);
  if (bold)
    keepFont(label, FontRole::caption, Face::numbers, 600);
  else if (std::string_view(kind) == "number")
    keepFont(label, FontRole::caption, Face::numbers);
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  return label;
}

}  // namespace

ChangesCard::ChangesCard(QWidget* parent) : QWidget(parent) {
  setObjectName("changes");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(20, 14, 20, 14);
  column->setSpacing(8);
  m_title = makeLabel("heading", {}, nullptr, Wrap::yes);
  m_title->setObjectName("changes-title");
  m_source = makeLabel("hint", {}, nullptr, Wrap::yes);
  column->addWidget(m_title);
  column->addWidget(m_source);
  m_choices = new SegmentedControl;
  m_choices->setObjectName("changes-choices");
  column->addWidget(m_choices, 0, Qt::AlignLeft);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget;
  inside->setBackgroundRole(QPalette::Base);
  auto* holder = new QVBoxLayout(inside);
  holder->setContentsMargins(0, 4, 8, 4);
  m_rows = new QWidget;
  m_grid = new QGridLayout(m_rows);
  holder->addWidget(m_rows);
  holder->addStretch();
  scroll->setWidget(inside);
  column->addWidget(scroll, 1);
  auto* buttons = new QHBoxLayout;
  buttons->setSpacing(8);
  m_take = new Button(tr("Take"), ButtonKind::tinted);
  m_take->setObjectName("changes-take");
  auto* close = new Button(tr("Close"), ButtonKind::outlined);
  close->setObjectName("changes-close");
  buttons->addStretch();
  buttons->addWidget(close);
  buttons->addWidget(m_take);
  column->addLayout(buttons);
  connect(m_take, &QPushButton::clicked, this, &ChangesCard::taken);
  connect(close, &QPushButton::clicked, this, &ChangesCard::closed);
  connect(m_choices, &SegmentedControl::currentChanged, this, &ChangesCard::choiceChanged);
  setChoices({}, 0);
}

void ChangesCard::clear() {
  delete m_grid;
  for (QObject* each : m_rows->children())
    if (auto* widget = qobject_cast<QWidget*>(each)) {
      widget->hide();
      widget->deleteLater();
    }
  m_grid = new QGridLayout(m_rows);
  m_grid->setContentsMargins(0, 0, 0, 0);
  m_grid->setHorizontalSpacing(12);
  m_grid->setVerticalSpacing(7);
  m_grid->setColumnStretch(0, 5);
  m_grid->setColumnStretch(1, 3);
  m_grid->setColumnStretch(2, 4);
  m_grid->setColumnStretch(3, 8);
}

void ChangesCard::setChoices(const QStringList& choices, int chosen) {
  const QSignalBlocker quiet(m_choices);
  m_choices->setVisible(choices.size() > 1);
  m_choices->setLabels(choices);
  m_choices->setCurrent(chosen);
}

void ChangesCard::setWaiting(const QString& title, const QString& words) {
  clear();
  setChoices({}, 0);
  m_title->setText(title);
  m_source->setText(words);
  m_take->setEnabled(false);
}

void ChangesCard::setProposal(const QString& title, const QString& source, const std::vector<FieldChange>& changes,
                              const QStringList& notes) {
  clear();
  m_title->setText(title);
  m_source->setText(source);
  int row = 0;
  const char* heads[] = {"Field", "Now", "Then", "From"};
  for (int i = 0; i < 4; ++i) m_grid->addWidget(makeLabel("section", tr(heads[i])), row, i);
  bool any = false;
  for (const FieldChange& change : changes) {
    ++row;
    any = any || !change.same();
    m_grid->addWidget(cell(labelOf(change.path), false, "field"), row, 0);
    m_grid->addWidget(cell(valueOf(change.path, change.before), false), row, 1);
    m_grid->addWidget(change.same() ? cell(tr("stays"), false, "hint") : cell(valueOf(change.path, change.after), true),
                      row, 2);
    m_grid->addWidget(cell(QString::fromStdString(change.reason), false, "hint"), row, 3);
  }
  if (!any) m_grid->addWidget(cell(tr("Nothing would change: all is set so already."), false, "field"), ++row, 0, 1, 4);
  for (const QString& note : notes) m_grid->addWidget(cell(note, false, "hint"), ++row, 0, 1, 4);
  m_take->setEnabled(any);
}

void ChangesCard::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape) return QWidget::keyPressEvent(event);
  Q_EMIT closed();
}

}  // namespace loom

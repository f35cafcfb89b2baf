#include "app/shell/keys_card.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/page_table.h"
#include "app/shell/search_panel.h"
#include "widgets/controls/button.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

enum Column { name, place, keys, columns };
constexpr int kId = Qt::UserRole;

}  // namespace

KeysCard::KeysCard(Commands& commands, QWidget* window)
    : Popover(window),
      m_commands(commands),
      m_search(new SearchField(tr("Find a command or a key"))),
      m_list(new QTreeWidget),
      m_keys(new QKeySequenceEdit),
      m_words(makeLabel("hint", {})),
      m_takeOver(new Button(tr("Take it over"), ButtonKind::link)),
      m_none(new Button(tr("No keys"), ButtonKind::outlined)),
      m_usual(new Button(tr("Usual keys"), ButtonKind::outlined)),
      m_allUsual(new Button(tr("All usual again"), ButtonKind::link)) {
  setObjectName("keys");
  setTitle(tr("Keys"));
  m_list->setObjectName("keys-list");
  m_list->setColumnCount(columns);
  m_list->setHeaderLabels({tr("Command"), tr("Where"), tr("Keys")});
  m_list->setRootIsDecorated(false);
  m_list->setUniformRowHeights(true);
  m_list->setAccessibleName(tr("Commands and their keys"));
  m_list->setIndentation(0);
  m_list->header()->setStretchLastSection(true);
  m_list->setMinimumSize(620, std::clamp(window->height() - 320, 240, 420));
  m_keys->setObjectName("keys-edit");
  m_keys->setAccessibleName(tr("New keys"));
  m_words->setWordWrap(true);
  m_words->setMinimumHeight(m_words->fontMetrics().height());
  m_takeOver->setObjectName("keys-take-over");
  m_none->setObjectName("keys-none");
  m_usual->setObjectName("keys-usual");
  m_allUsual->setObjectName("keys-all-usual");

  contentLayout()->setSpacing(8);
  contentLayout()->addWidget(m_search);
  contentLayout()->addWidget(m_list, 1);
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(makeLabel("label", tr("New keys")));
  row->addWidget(m_keys, 1);
  row->addWidget(m_none);
  row->addWidget(m_usual);
  contentLayout()->addLayout(row);
  auto* foot = new QHBoxLayout;
  foot->addWidget(m_words, 1);
  foot->addWidget(m_takeOver);
  foot->addWidget(m_allUsual);
  contentLayout()->addLayout(foot);

  connect(m_search, &QLineEdit::textChanged, this, &KeysCard::filter);
  connect(m_list, &QTreeWidget::currentItemChanged, this, &KeysCard::refreshChosen);
  connect(m_list, &QTreeWidget::itemActivated, m_keys, [this] { m_keys->setFocus(Qt::OtherFocusReason); });
  connect(m_keys, &QKeySequenceEdit::editingFinished, this, [this] { take(m_keys->keySequence()); });
  connect(m_takeOver, &QPushButton::clicked, this, [this] {
    const QKeySequence wanted = m_wanted;  // the first change below writes the card anew
    const QString other = m_commands.whoHas(chosen(), {wanted});
    if (other.isEmpty()) return;
    QList<QKeySequence> left = m_commands.find(other)->shortcuts();
    left.removeAll(wanted);
    m_commands.setKeys(other, left);
    take(wanted);
  });
  connect(m_none, &QPushButton::clicked, this, [this] { m_commands.setKeys(chosen(), {}); });
  connect(m_usual, &QPushButton::clicked, this, [this] { m_commands.resetKeys(chosen()); });
  connect(m_allUsual, &QPushButton::clicked, this, [this] { m_commands.setChangedKeys({}); });
  connect(&m_commands, &Commands::keysChanged, this, &KeysCard::fill);
  fill();
  setFocusProxy(m_search);
}

QString KeysCard::placeOf(const QString& scope) const {
  if (scope.isEmpty()) return tr("Everywhere");
  if (scope == "*/chart") return tr("A chart");
  if (scope == "chart") return tr("A chart, where its page has no other");
  const PageEntry* const page = findPage(scope.section('/', 0, 0));
  const QString where = page ? tr(page->name) : scope;
  return scope.contains('/') ? tr("%1, the drawing").arg(where) : where;
}

// The rows stay where they are when keys change: the list is built once and then written anew.
void KeysCard::fill() {
  const QList<QAction*> all = m_commands.all();
  if (m_list->topLevelItemCount() != all.size()) {
    m_list->clear();
    for (const QAction* action : all) {
      auto* const item = new QTreeWidgetItem(m_list);
      item->setData(name, kId, Commands::idOf(*action));
    }
    m_list->setCurrentItem(m_list->topLevelItem(0));
  }
  for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
    QTreeWidgetItem* const item = m_list->topLevelItem(i);
    const QString id = item->data(name, kId).toString();
    const CommandSpec& spec = m_commands.spec(id);
    item->setText(name, spec.text);
    item->setText(place, placeOf(spec.scope));
    item->setText(keys, keysText(*m_commands.find(id)));
    QFont font = m_list->font();
    font.setBold(m_commands.isChanged(id));
    item->setFont(keys, font);
    item->setToolTip(keys, m_commands.isChanged(id) ? tr("Changed by you") : QString());
  }
  m_list->resizeColumnToContents(name);
  m_list->resizeColumnToContents(place);
  m_allUsual->setVisible(!m_commands.changedKeys().isEmpty());
  refreshChosen();
}

void KeysCard::filter() {
  QTreeWidgetItem* first = nullptr;
  for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
    QTreeWidgetItem* const item = m_list->topLevelItem(i);
    const bool shown = m_search->text().isEmpty() || matchScore(item->text(name), m_search->text()) > 0 ||
                       item->text(keys).contains(m_search->text(), Qt::CaseInsensitive);
    item->setHidden(!shown);
    if (shown && !first) first = item;
  }
  if (first && (!m_list->currentItem() || m_list->currentItem()->isHidden())) m_list->setCurrentItem(first);
}

QString KeysCard::chosen() const {
  return m_list->currentItem() ? m_list->currentItem()->data(name, kId).toString() : QString();
}

void KeysCard::choose(const QString& id) {
  for (int i = 0; i < m_list->topLevelItemCount(); ++i)
    if (m_list->topLevelItem(i)->data(name, kId) == id) m_list->setCurrentItem(m_list->topLevelItem(i));
}

void KeysCard::refreshChosen() {
  const QString id = chosen();
  const QAction* const action = m_commands.find(id);
  m_wanted = {};
  m_words->clear();
  m_takeOver->hide();
  m_keys->setEnabled(action);
  m_keys->setKeySequence(action ? action->shortcut() : QKeySequence());
  m_none->setEnabled(action && !action->shortcuts().isEmpty());
  m_usual->setEnabled(action && m_commands.isChanged(id));
}

void KeysCard::take(const QKeySequence& wanted) {
  const QString id = chosen();
  const QAction* const action = m_commands.find(id);
  if (!action || wanted.isEmpty() || wanted == action->shortcut()) return;
  // One press is a command: a chain of presses would take the first from others.
  const QKeySequence one(wanted[0]);
  if (const QString other = m_commands.whoHas(id, {one}); !other.isEmpty()) {
    m_wanted = one;
    m_words->setText(tr("%1 is “%2”.").arg(one.toString(QKeySequence::NativeText), m_commands.find(other)->text()));
    m_takeOver->show();
    return;
  }
  m_commands.setKeys(id, {one});
  m_words->setText(tr("%1 is “%2” now.").arg(one.toString(QKeySequence::NativeText), action->text()));
}

}  // namespace loom

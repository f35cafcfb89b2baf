#include "widgets/controls/commands.h"

#include <QKeyEvent>
#include <QMenu>
#include <algorithm>

#include "widgets/theme/icon.h"

namespace loom {
namespace {

QList<QKeySequence> sequencesOf(const QStringList& texts) {
  QList<QKeySequence> keys;
  for (const QString& text : texts) keys << QKeySequence(text, QKeySequence::PortableText);
  return keys;
}

// Shift with a digit types another character on most keyboards, and the event then carries that one.
QList<QKeySequence> typedBy(const QKeyEvent& event) {
  const QKeyCombination pressed(event.modifiers() & ~Qt::KeypadModifier, static_cast<Qt::Key>(event.key()));
  QList<QKeySequence> typed{QKeySequence(pressed)};
  if (event.modifiers() & Qt::ShiftModifier) {
    const std::pair<int, Qt::Key> digits[] = {
        {Qt::Key_Exclam, Qt::Key_1}, {Qt::Key_At, Qt::Key_2}, {Qt::Key_QuoteDbl, Qt::Key_2}};
    for (const auto& [symbol, digit] : digits)
      if (event.key() == symbol) typed << QKeySequence(QKeyCombination(pressed.keyboardModifiers(), digit));
    // "+" and "?" are typed with Shift here and without it there: their command names the character alone.
    const bool letterOrDigit = (event.key() >= Qt::Key_A && event.key() <= Qt::Key_Z) ||
                               (event.key() >= Qt::Key_0 && event.key() <= Qt::Key_9);
    if (event.key() < 0x100 && !letterOrDigit && event.key() != Qt::Key_Space)
      typed << QKeySequence(QKeyCombination(pressed.keyboardModifiers() & ~Qt::ShiftModifier, pressed.key()));
  }
  return typed;
}

}  // namespace

bool scopesMeet(const QString& a, const QString& b) {
  if (a.isEmpty() || b.isEmpty()) return true;
  const QStringList parts = a.split('/'), others = b.split('/');
  for (qsizetype i = 0; i < std::min(parts.size(), others.size()); ++i)
    if (parts[i] != others[i] && parts[i] != "*" && others[i] != "*") return false;
  return true;
}

QString keysText(const QAction& action) {
  QStringList keys;
  for (const QKeySequence& key : action.shortcuts()) keys << key.toString(QKeySequence::NativeText);
  return keys.join(Commands::tr(" or "));
}

QString textWithKeys(const QAction& action) {
  const QString keys = keysText(action);
  return keys.isEmpty() ? action.text() : QStringLiteral("%1 (%2)").arg(action.text(), keys);
}

QAction* Commands::add(const CommandSpec& spec, QObject* owner, std::function<void()> run) {
  return add(spec, owner, [run = std::move(run)](const QJsonObject&) { run(); });
}

QAction* Commands::add(const CommandSpec& spec, QObject* owner, Run run) {
  auto* action = new QAction(spec.text, owner);
  action->setObjectName(spec.id);
  // Its part asks for the keys; Qt would give them to the whole window.
  if (spec.scope.contains('/')) action->setShortcutContext(Qt::WidgetShortcut);
  if (!spec.icon.isEmpty()) action->setIcon(icon(spec.icon));
  if (QAction* const before = find(spec.id)) m_order.removeOne(before);
  m_order << action;
  const Entry& entry = m_entries[spec.id] = {spec, action, std::move(run)};
  applyKeys(entry);
  connect(action, &QAction::triggered, this, [this, id = spec.id] { act(id, {}); });
  connect(action, &QObject::destroyed, this, [this, id = spec.id](const QObject* gone) { forget(id, gone); });
  return action;
}

void Commands::forget(const QString& id, const QObject* action) {
  m_order.removeIf([action](const QAction* each) { return each == action; });
  if (const auto found = m_entries.constFind(id); found != m_entries.cend() && found->action == action)
    m_entries.erase(found);
}

QList<QAction*> Commands::ofScope(const QString& scope) const {
  QList<QAction*> found;
  for (QAction* action : m_order)
    if (spec(idOf(*action)).scope == scope) found << action;
  return found;
}

const CommandSpec& Commands::spec(const QString& id) const {
  return m_entries.constFind(id)->spec;
}

QAction* Commands::findByKeys(const QString& scope, const QKeyEvent& event) const {
  const QList<QKeySequence> typed = typedBy(event);
  for (QAction* action : m_order) {
    if (spec(idOf(*action)).scope != scope) continue;
    for (const QKeySequence& key : action->shortcuts())
      if (typed.contains(key)) return action;
  }
  return nullptr;
}

bool Commands::isPossible(const QString& id) const {
  const auto found = m_entries.constFind(id);
  return found != m_entries.cend() && found->action->isEnabled() && (!found->spec.possible || found->spec.possible());
}

Commands& Commands::around(QWidget& part) {
  for (QObject* each = &part; each; each = each->parent())
    if (auto* const commands = each->findChild<Commands*>(QString(), Qt::FindDirectChildrenOnly)) return *commands;
  return *new Commands(&part);
}

void Commands::press(const QString& id, QWidget* part) {
  const QPointer<QWidget> before = std::exchange(m_part, part);
  act(id, {});
  m_part = before;
}

QAction* Commands::addTo(QMenu& menu, const QString& id, QWidget* part, const MenuLine& line) {
  const QAction* const command = find(id);
  if (!command) return nullptr;
  const QPointer<QWidget> before = std::exchange(m_part, part);  // what is possible is possible for it
  const bool possible = isPossible(id);
  m_part = before;
  auto* const action = menu.addAction(line.picture.isNull() ? command->icon() : line.picture,
                                      line.text.isEmpty() ? command->text() : line.text);
  action->setProperty(kCommandProperty, id);
  // The line shows the keys; those of the command itself are the ones that hold.
  action->setShortcuts(command->shortcuts());
  action->setShortcutContext(Qt::WidgetShortcut);
  action->setEnabled(possible);
  action->setToolTip(command->toolTip());
  if (command->isCheckable()) {
    action->setCheckable(true);
    action->setChecked(command->isChecked());
  }
  connect(action, &QAction::triggered, this, [this, id, part = QPointer<QWidget>(part), arguments = line.arguments] {
    const QPointer<QWidget> was = std::exchange(m_part, part);
    act(id, arguments);
    m_part = was;
  });
  return action;
}

void Commands::applyKeys(const Entry& entry) const {
  const auto changed = m_changed.constFind(entry.spec.id);
  entry.action->setShortcuts(changed == m_changed.cend() ? entry.spec.keys : sequencesOf(*changed));
}

void Commands::setChangedKeys(const QHash<QString, QStringList>& changed) {
  m_changed = changed;
  for (const Entry& entry : std::as_const(m_entries)) applyKeys(entry);
  Q_EMIT keysChanged();
}

QString Commands::whoHas(const QString& id, const QList<QKeySequence>& keys) const {
  const QString scope = m_entries.contains(id) ? spec(id).scope : QString();
  for (const QAction* other : m_order) {
    if (idOf(*other) == id || !scopesMeet(scope, spec(idOf(*other)).scope)) continue;
    for (const QKeySequence& key : other->shortcuts())
      if (keys.contains(key)) return idOf(*other);
  }
  return {};
}

void Commands::setKeys(const QString& id, const QList<QKeySequence>& keys) {
  const auto found = m_entries.constFind(id);
  if (found == m_entries.cend()) return;
  QStringList texts;
  for (const QKeySequence& key : keys)
    if (!key.isEmpty()) texts << key.toString(QKeySequence::PortableText);
  if (sequencesOf(texts) == found->spec.keys)
    m_changed.remove(id);
  else
    m_changed.insert(id, texts);
  applyKeys(*found);
  Q_EMIT keysChanged();
}

void Commands::resetKeys(const QString& id) {
  if (m_changed.remove(id) == 0) return;
  if (const auto found = m_entries.constFind(id); found != m_entries.cend()) applyKeys(*found);
  Q_EMIT keysChanged();
}

void Commands::act(const QString& id, const QJsonObject& arguments) {
  const Run run = m_entries.value(id).run;  // a copy: the command may take itself away
  if (!run) return;
  if (m_recording && !m_replaying) {
    QJsonObject recorded = arguments;
    recorded.insert(QStringLiteral("run"), id);
    m_recorded.append(recorded);
  }
  run(arguments);
  Q_EMIT ran(id, arguments);
}

void Commands::startRecording() {
  m_recorded = {};
  m_recording = true;
}

QJsonArray Commands::stopRecording() {
  m_recording = false;
  return std::exchange(m_recorded, {});
}

QString Commands::run(const QString& id, const QJsonObject& arguments) {
  // The scope stands in the id too: a page that nobody has looked at yet has no commands.
  const qsizetype dot = id.indexOf('.');
  const QString scope = m_entries.contains(id) ? spec(id).scope : dot < 0 ? QString() : id.left(dot);
  if (!scope.isEmpty() && m_reach && !m_reach(scope))
    return tr("“%1” cannot be run now: its page is not there.").arg(id);
  QAction* const action = find(id);
  if (!action) return tr("There is no command “%1”.").arg(id);
  if (!isPossible(id)) return tr("“%1” is not possible now.").arg(action->text());
  act(id, arguments);
  return {};
}

QString Commands::replay(const QJsonArray& list) {
  const bool before = std::exchange(m_replaying, true);
  QString reason;
  for (qsizetype i = 0; i < list.size() && reason.isEmpty(); ++i) {
    QJsonObject arguments = list[i].toObject();
    const QString id = arguments.take(QStringLiteral("run")).toString();
    reason = id.isEmpty() ? tr("It names no command: {\"run\": \"...\"}.") : run(id, arguments);
    if (!reason.isEmpty()) reason = tr("Step %1 of %2: %3").arg(i + 1).arg(list.size()).arg(reason);
  }
  m_replaying = before;
  return reason;
}

}  // namespace loom

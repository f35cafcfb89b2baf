#include "app/pages/runs/filter_completer.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QStringListModel>
#include <algorithm>

namespace loom {
namespace {

// The last part of the filter: a name that is being typed, or a name, a comparison and the beginning of a value.
struct Part {
  QString name, value;
  bool compared = false;
};

Part lastPart(const QString& text) {
  static const QRegularExpression kAndBefore("^.*\\band\\s+", QRegularExpression::CaseInsensitiveOption);
  static const QRegularExpression kCompared("^\\s*([\\w.]+)\\s*(?:==|!=|<=|>=|<|>|=)\\s*(\\S*)$");
  const QString last = QString(text).remove(kAndBefore);
  if (const auto match = kCompared.match(last); match.hasMatch()) return {match.captured(1), match.captured(2), true};
  static const QRegularExpression kName("^\\s*([\\w.]*)$");
  const auto match = kName.match(last);
  return {match.hasMatch() ? match.captured(1) : QString(), {}, false};
}

}  // namespace

FilterCompleter::FilterCompleter(QLineEdit& field, Source source)
    : QObject(&field),
      m_field(field),
      m_source(std::move(source)),
      m_words(new QStringListModel(this)),
      m_completer(new QCompleter(m_words, this)) {
  m_completer->setWidget(&field);
  m_completer->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
  m_completer->popup()->setObjectName("filter-offers");
  m_completer->popup()->setProperty("kind", "offers");
  connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &FilterCompleter::take);
  connect(&field, &QLineEdit::textEdited, this, [this] { offer(false); });
  field.installEventFilter(this);
  m_completer->popup()->installEventFilter(this);
}

QStringList FilterCompleter::offers(const QString& text) const {
  const Part part = lastPart(text);
  const QString begun = part.compared ? part.value : part.name;
  QStringList found;
  for (const QString& each : part.compared ? m_source.values(part.name) : m_source.names())
    if (each.contains(QString(begun).remove('"'), Qt::CaseInsensitive) && each != begun) found << each;
  // What begins so stands before what has it inside.
  std::stable_sort(found.begin(), found.end(), [&](const QString& a, const QString& b) {
    return a.startsWith(begun, Qt::CaseInsensitive) > b.startsWith(begun, Qt::CaseInsensitive);
  });
  return found;
}

void FilterCompleter::offer(bool all) {
  const QString before = m_field.text().left(m_field.cursorPosition());
  const Part part = lastPart(before);
  const QStringList words = !all && part.name.isEmpty() ? QStringList() : offers(before);
  m_words->setStringList(words);
  if (words.isEmpty()) return m_completer->popup()->hide();
  m_completer->complete();
}

void FilterCompleter::take(const QString& word) {
  const int at = m_field.cursorPosition();
  const Part part = lastPart(m_field.text().left(at));
  const auto begun = (part.compared ? part.value : part.name).size();
  m_field.setText(m_field.text().left(at - begun) + word + m_field.text().mid(at));
  m_field.setCursorPosition(static_cast<int>(at - begun + word.size()));
}

bool FilterCompleter::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    auto* key = static_cast<QKeyEvent*>(event);
    if (watched == &m_field && key->key() == Qt::Key_Space && key->modifiers() == Qt::ControlModifier) {
      offer(true);
      return true;
    }
    if (watched == m_completer->popup() && key->key() == Qt::Key_Tab) {
      const QModelIndex current = m_completer->popup()->currentIndex();
      take(current.isValid() ? current.data().toString() : m_words->stringList().value(0));
      m_completer->popup()->hide();
      return true;
    }
  }
  return QObject::eventFilter(watched, event);
}

}  // namespace loom

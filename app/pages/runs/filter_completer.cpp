#include "app/pages/runs/filter_completer.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QKeyEvent>
#include <QLineEdit>
#include <QRegularExpression>
#include <QStringListModel>
#include <algorithm>
#include <utility>

namespace loom {
namespace {

// The last part of the filter: a name that is being typed; a name, and what compares it; or those and the beginning of
// a value.
struct Part {
  enum class Kind { name, comparison, value };
  Kind kind = Kind::name;
  QString name, begun;
};

Part lastPart(const QString& text) {
  static const auto kNoCase = QRegularExpression::CaseInsensitiveOption;
  static const QRegularExpression kListed(R"(([\w.]+)\s+(?:not\s+)?in\s*[(\[](?:[^()\[\]]*,)?\s*([^,()\[\]]*)$)",
                                          kNoCase);
  if (const auto match = kListed.match(text); match.hasMatch())
    return {Part::Kind::value, match.captured(1), match.captured(2)};
  static const QRegularExpression kBefore(R"(^.*(?:\b(?:and|or|not)\s+|\())", kNoCase);
  const QString last = QString(text).remove(kBefore);
  static const QRegularExpression kCompared(R"(^\s*([\w.]+)\s*(?:==|!=|!~|<=|>=|<|>|=|~)\s*(\S*)$)");
  if (const auto match = kCompared.match(last); match.hasMatch())
    return {Part::Kind::value, match.captured(1), match.captured(2)};
  static const QRegularExpression kNamed(R"(^\s*([\w.]+)\s+([a-z]*)$)");
  if (const auto match = kNamed.match(last); match.hasMatch())
    return {Part::Kind::comparison, match.captured(1), match.captured(2)};
  static const QRegularExpression kName(R"(^\s*([\w.]*)$)");
  const auto match = kName.match(last);
  return {Part::Kind::name, {}, match.hasMatch() ? match.captured(1) : QString()};
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
  const QString begun = part.begun;
  QStringList known;
  if (part.kind == Part::Kind::value) known = m_source.values(part.name);
  if (part.kind == Part::Kind::name) known = m_source.names();
  // After what is no name, no comparison follows: it is a word to look for.
  if (part.kind == Part::Kind::comparison && m_source.names().contains(part.name, Qt::CaseInsensitive))
    known = QStringList{"==", "!=", "<", ">", "in (", "~"};
  QStringList found;
  for (const QString& each : std::as_const(known))
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
  const bool begun = part.kind == Part::Kind::value || !part.begun.isEmpty();
  const QStringList words = !all && !begun ? QStringList() : offers(before);
  m_words->setStringList(words);
  if (words.isEmpty()) return m_completer->popup()->hide();
  m_completer->complete();
}

void FilterCompleter::take(const QString& word) {
  const int at = m_field.cursorPosition();
  const auto begun = lastPart(m_field.text().left(at)).begun.size();
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

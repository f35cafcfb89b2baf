#include "launcher/store/run_filter_parser.h"

#include <QRegularExpression>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/expression.h"

namespace loom {
namespace {

bool isQuote(QChar each) {
  return each == '"' || each == '\'';
}

QString unquoted(const QString& value) {
  return value.size() >= 2 && isQuote(value.front()) && value.endsWith(value.front()) ? value.mid(1, value.size() - 2)
                                                                                      : value;
}

// "1e-3", "nan", "0.1*32", "45_000", "32 k", "99.5 %".
std::optional<double> numberOf(const QString& value) {
  if (value.endsWith('%')) {
    const std::optional<double> number = numberOf(value.chopped(1).trimmed());
    return number ? std::optional(*number / 100) : std::nullopt;
  }
  bool isNumber = false;
  const double number = value.toDouble(&isNumber);
  if (isNumber) return number;
  try {
    const Expression formula(value.toStdString());
    return formula.names().empty() ? std::optional(formula.evaluate()) : std::nullopt;  // with names it is a text
  } catch (const ExpressionError&) {
    return std::nullopt;  // a text
  }
}

// "a, 'b, c'" -> a, 'b, c'
QStringList listOf(const QString& text) {
  QStringList items;
  QString item;
  QChar quote;
  for (const QChar each : text) {
    if (quote.isNull() && each == ',') {
      items << item.trimmed();
      item.clear();
      continue;
    }
    if (quote.isNull() ? isQuote(each) && item.trimmed().isEmpty() : each == quote)
      quote = quote.isNull() ? each : QChar();
    item += each;
  }
  items << item.trimmed();
  items.removeAll(QString());
  return items;
}

}  // namespace

RunFilterParser::RunFilterParser(QString text, Faults faults, Check check)
    : m_text(std::move(text)), m_faults(faults), m_check(std::move(check)) {}

template <class Work>
FilterTerm RunFilterParser::guarded(const Work& work) const {
  if (m_faults == Faults::thrown) return work();
  try {
    return work();
  } catch (const Error&) {
    return {};
  }
}

FilterTerm RunFilterParser::unfinished(const QString& part, const QString& remedy) const {
  return guarded([&]() -> FilterTerm {
    throwError(ErrorCode::badArgument, "\"{}\" is not finished: write {}", part.toStdString(), remedy.toStdString());
  });
}

FilterTerm RunFilterParser::parse() {
  FilterTerm whole = either();
  while (!atEnd()) {  // only a closing bracket ends it before the end
    if (m_faults == Faults::thrown)
      throwError(ErrorCode::badArgument, "a bracket is closed after \"{}\" that was not opened: take \")\" away",
                 m_text.left(m_at).trimmed().toStdString());
    ++m_at;
    whole = joined(FilterTerm::Kind::all, {std::move(whole), either()});
  }
  return whole;
}

FilterTerm RunFilterParser::joined(FilterTerm::Kind kind, std::vector<FilterTerm> parts) {
  std::erase_if(parts, [](const FilterTerm& each) { return each.kind == FilterTerm::Kind::nothing; });
  if (parts.empty()) return {};
  if (parts.size() == 1 && kind != FilterTerm::Kind::negation) return std::move(parts.front());
  FilterTerm term;
  term.kind = kind;
  term.parts = std::move(parts);
  return term;
}

FilterTerm RunFilterParser::either() {
  std::vector<FilterTerm> parts{all()};
  while (takeWord("or")) parts.push_back(all());
  return joined(FilterTerm::Kind::either, std::move(parts));
}

FilterTerm RunFilterParser::all() {
  std::vector<FilterTerm> parts{one()};
  while (takeWord("and")) parts.push_back(one());
  return joined(FilterTerm::Kind::all, std::move(parts));
}

FilterTerm RunFilterParser::one() {
  skipSpace();
  if (takeWord("not")) {
    std::vector<FilterTerm> parts{one()};
    return joined(FilterTerm::Kind::negation, std::move(parts));
  }
  if (atEnd() || m_text[m_at] != '(') return term();
  const qsizetype from = m_at++;
  FilterTerm inside = either();
  skipSpace();
  if (!atEnd()) {
    ++m_at;
    return inside;
  }
  if (m_faults == Faults::thrown) return unfinished(since(from), "\")\" at its end");
  return inside;
}

void RunFilterParser::skipSpace() {
  while (!atEnd() && m_text[m_at].isSpace()) ++m_at;
}

// A word of the language by itself: "and", but not "android".
bool RunFilterParser::wordAt(qsizetype at, const char* word) const {
  const QLatin1String wanted(word);
  const auto part = [](QChar each) { return each.isLetterOrNumber() || each == '_' || each == '.' || each == '-'; };
  const qsizetype end = at + wanted.size();
  return QStringView(m_text).mid(at, wanted.size()).compare(wanted, Qt::CaseInsensitive) == 0 &&
         (end >= m_text.size() || !part(m_text[end])) && (at == 0 || !part(m_text[at - 1]));
}

bool RunFilterParser::takeWord(const char* word) {
  skipSpace();
  if (!wordAt(m_at, word)) return false;
  m_at += static_cast<qsizetype>(qstrlen(word));
  return true;
}

QString RunFilterParser::takeRest() {
  const qsizetype from = m_at;
  int depth = 0;
  QChar quote;
  for (; !atEnd(); ++m_at) {
    const QChar each = m_text[m_at];
    const bool begins = m_at == from || m_text[m_at - 1].isSpace() || m_text[m_at - 1] == '(';
    if (!quote.isNull()) {
      if (each == quote) quote = QChar();
    } else if (isQuote(each) && begins) {
      quote = each;
    } else if (each == '(') {
      ++depth;
    } else if (each == ')' && --depth < 0) {
      break;
    } else if (depth == 0 && begins && (wordAt(m_at, "and") || wordAt(m_at, "or"))) {
      break;
    }
  }
  return since(from);
}

FilterTerm RunFilterParser::term() {
  static const QRegularExpression kName(R"(\G\s*([\w.]+)\s*(==|!=|!~|<=|>=|<|>|=|~|(?:not\s+)?in\b)?)",
                                        QRegularExpression::CaseInsensitiveOption);
  skipSpace();
  const qsizetype from = m_at;
  if (atEnd()) {
    if (from == 0 || m_text.trimmed().isEmpty()) return {};
    return unfinished(m_text.trimmed(), "what is to hold at its end");
  }
  const auto match = kName.match(m_text, m_at);
  const QString comparison = match.captured(2).toLower();
  if (comparison.isEmpty()) {
    // As its column is headed: "learning rate < 0.01".
    static const QRegularExpression kShown(R"(\G\s*([\w.]+(?:\s+[\w.]+){1,3})\s*(==|!=|!~|<=|>=|<|>|=|~))");
    const auto shown = kShown.match(m_text, m_at);
    const QStringList parts = shown.captured(1).split(' ', Qt::SkipEmptyParts);
    const bool joins = std::any_of(parts.begin(), parts.end(), [](const QString& each) {
      return QStringList{"and", "or", "not"}.contains(each, Qt::CaseInsensitive);
    });
    if (!shown.hasMatch() || joins) return words(from);
    return behind(parts.join('_'), shown.captured(2), shown.capturedEnd(2), from);
  }
  return behind(match.captured(1), comparison, match.capturedEnd(2), from);
}

FilterTerm RunFilterParser::behind(const QString& name, const QString& comparison, qsizetype end, qsizetype from) {
  m_at = end;
  if (comparison.endsWith("in")) return listed(name, from, comparison.startsWith("not"));
  return compared(name, comparison, from);
}

FilterTerm RunFilterParser::compared(const QString& name, const QString& comparison, qsizetype from) {
  const QString value = takeRest();
  const bool open = !value.isEmpty() && isQuote(value.front()) && unquoted(value) == value;
  if (value.isEmpty() || open) return unfinished(since(from), open ? "the quote at its end" : "key == value");
  return guarded([&] {
    m_check(name, unquoted(value));
    return comparing(name, comparison, value);
  });
}

FilterTerm RunFilterParser::comparing(const QString& name, const QString& comparison, QString value) const {
  FilterTerm term;
  term.kind = FilterTerm::Kind::comparison;
  term.key = name.toLower().toStdString();
  term.comparison = comparison == "=" ? QStringLiteral("==") : comparison;
  term.value = unquoted(value);
  term.number = numberOf(term.value);
  return term;
}

FilterTerm RunFilterParser::listed(const QString& name, qsizetype from, bool negated) {
  static const QRegularExpression kList(R"(\G\s*(?:\(([^()]*)\)|\[([^\[\]]*)\]))");
  const auto match = kList.match(m_text, m_at);
  const QStringList items = match.hasMatch() ? listOf(match.captured(1) + match.captured(2)) : QStringList();
  if (match.hasMatch())
    m_at = match.capturedEnd();
  else
    m_at = m_text.size();
  return guarded([&] {
    m_check(name, {});
    if (items.isEmpty()) return unfinished(since(from), name + " in (a, b)");
    FilterTerm term;
    term.kind = FilterTerm::Kind::anyOf;
    for (const QString& each : items) {
      m_check(name, unquoted(each));
      term.parts.push_back(comparing(name, "==", each));
    }
    if (!negated) return term;
    std::vector<FilterTerm> parts;
    parts.push_back(std::move(term));
    return joined(FilterTerm::Kind::negation, std::move(parts));
  });
}

FilterTerm RunFilterParser::words(qsizetype from) {
  static const QRegularExpression kComparison("[=<>~]");
  const QString text = takeRest();
  if (text.isEmpty()) {  // a connective without what it connects
    if (!atEnd()) return unfinished(m_text.left(m_at).trimmed(), "what is to hold at its end");
    return unfinished(m_text.trimmed(), "what is to hold at its end");
  }
  const bool quoted = isQuote(text.front());
  if (!quoted && text.contains(kComparison)) return unfinished(text, "key == value");
  if (quoted && unquoted(text) == text) return unfinished(text, "the quote at its end");
  if (atEnd() && !quoted) {
    m_lastWord = text;
    m_lastWordAt = from;
  }
  FilterTerm term;
  term.kind = FilterTerm::Kind::word;
  term.value = unquoted(text);
  return term;
}

}  // namespace loom

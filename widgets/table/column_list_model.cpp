#include "widgets/table/column_list_model.h"

#include <QDateTime>
#include <algorithm>
#include <numeric>

#include "widgets/chart/format.h"
#include "widgets/controls/text.h"

namespace loom {

QString columnValue(const ColumnFacts& column, double value) {
  if (column.type != ColumnType::date) return formatShort(value);
  return QDateTime::fromSecsSinceEpoch(static_cast<qint64>(value), Qt::UTC).toString(QStringLiteral("yyyy-MM"));
}

QString shownName(const ColumnFacts& column) {
  const auto element = column.name.rfind("__");
  const bool ofVector = element != std::string::npos && element + 2 < column.name.size() &&
                        column.name.find_first_not_of("0123456789", element + 2) == std::string::npos;
  if (ofVector && column.header.size() > column.name.size() + 1)
    return QString::fromStdString(column.header.substr(column.name.size() + 1));
  return QString::fromStdString(column.name);
}

QString contentWords(const ColumnFacts& column) {
  switch (column.type) {
    case ColumnType::empty:
      return ColumnList::tr("empty");
    case ColumnType::picture:
      return counted(column.count, ColumnList::tr("pictures"));
    case ColumnType::sound:
      return counted(column.count, ColumnList::tr("sounds"));
    case ColumnType::matrix:
      return counted(column.count, ColumnList::tr("matrices"));
    case ColumnType::text:
      return (column.distinctMore ? ColumnList::tr("over %L1 different texts").arg(qint64{kMostDistinct})
                                  : ColumnList::tr("%L1 different texts").arg(qint64{column.distinct}));
    case ColumnType::classes: {
      QStringList words;
      for (std::size_t i = 0; i < std::min<std::size_t>(column.words.size(), 6); ++i)
        words << QString::fromStdString(column.words[i].word);
      return counted(column.distinct, ColumnList::tr("classes")) + QStringLiteral(": ") +
             words.join(QStringLiteral(", "));
    }
    default:
      return ColumnList::tr("always %1").arg(columnValue(column, column.low));
  }
}

void ColumnListModel::setFacts(std::shared_ptr<const TableFacts> facts) {
  if (facts == m_facts) return;  // a name that is being typed stays as it is
  const bool same = facts && m_facts && facts->columns.size() == m_facts->columns.size();
  const bool grows = same && m_order == ColumnList::Order::file && m_filter.isEmpty();
  if (grows) {  // the same rows, more is known of them
    m_facts = std::move(facts);
    if (!m_rows.empty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
    return;
  }
  beginResetModel();
  m_facts = std::move(facts);
  m_rows = wanted();
  endResetModel();
}

void ColumnListModel::setMarks(std::map<std::string, ColumnMark> marks) {
  if (marks == m_marks) return;
  m_marks = std::move(marks);
  if (!m_rows.empty()) Q_EMIT dataChanged(index(0), index(rowCount() - 1));
}

void ColumnListModel::arrange(ColumnList::Order order, const QString& filter) {
  beginResetModel();
  m_order = order;
  m_filter = filter;
  m_rows = wanted();
  endResetModel();
}

QString ColumnListModel::nameOf(const ColumnFacts& column) const {
  const ColumnMark& known = mark(column.name);
  return known.name.isEmpty() ? shownName(column) : known.name;
}

std::vector<std::size_t> ColumnListModel::wanted() const {
  if (!m_facts) return {};
  const std::vector<ColumnFacts>& columns = m_facts->columns;
  std::vector<std::size_t> rows(columns.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (!m_filter.isEmpty())
    std::erase_if(rows, [&](std::size_t c) {
      return !nameOf(columns[c]).contains(m_filter, Qt::CaseInsensitive) &&
             !QString::fromStdString(columns[c].name).contains(m_filter, Qt::CaseInsensitive);
    });
  const auto by = [&](const auto& less) { std::stable_sort(rows.begin(), rows.end(), less); };
  if (m_order == ColumnList::Order::name)
    by([&](std::size_t a, std::size_t b) {
      return QString::localeAwareCompare(nameOf(columns[a]), nameOf(columns[b])) < 0;
    });
  if (m_order == ColumnList::Order::range)
    by([&](std::size_t a, std::size_t b) {
      return columns[a].high - columns[a].low > columns[b].high - columns[b].low;
    });
  if (m_order == ColumnList::Order::missing)
    by([&](std::size_t a, std::size_t b) {
      return columns[a].missing + columns[a].unreadable > columns[b].missing + columns[b].unreadable;
    });
  return rows;
}

const ColumnMark& ColumnListModel::mark(const std::string& column) const {
  static const ColumnMark none;
  const auto found = m_marks.find(column);
  return found == m_marks.end() ? none : found->second;
}

int ColumnListModel::rowOf(const std::string& column) const {
  for (std::size_t row = 0; !column.empty() && row < m_rows.size(); ++row)
    if (m_facts->columns[m_rows[row]].name == column) return static_cast<int>(row);
  return -1;
}

QVariant ColumnListModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const ColumnFacts& facts = column(index.row());
  if (role == Qt::DisplayRole || role == Qt::EditRole) return nameOf(facts);
  if (role != Qt::ToolTipRole && role != Qt::AccessibleTextRole) return {};
  const ColumnMark& known = mark(facts.name);
  QString text = QStringLiteral("%1: ").arg(nameOf(facts));
  if (!known.name.isEmpty()) text += tr("%1 in the file, ").arg(QString::fromStdString(facts.name));
  const bool numbers = (facts.type == ColumnType::number || facts.type == ColumnType::date) && facts.count > 0;
  const std::string_view type = toString(facts.type);
  if (numbers && facts.low < facts.high)
    text += tr("%1, %2 to %3, mean %4")
                .arg(QString::fromUtf8(type.data(), static_cast<qsizetype>(type.size())), columnValue(facts, facts.low),
                     columnValue(facts, facts.high), columnValue(facts, facts.mean));
  else
    text += contentWords(facts);
  if (facts.type == ColumnType::number && facts.low < facts.high)
    text += tr(", deviation %1").arg(formatShort(facts.deviation));
  if (facts.missing > 0) text += tr(", %L1 missing").arg(qint64{facts.missing});
  if (facts.unreadable > 0) text += tr(", %L1 unreadable").arg(qint64{facts.unreadable});
  if (known.target) text += tr(", target");
  if (known.leftOut) text += tr(", left out");
  if (!known.use.isEmpty()) text += QStringLiteral(", ") + known.use;
  return text;
}

bool ColumnListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole || !index.isValid()) return false;
  const QString to = value.toString().trimmed();
  const ColumnFacts& facts = column(index.row());
  if (to.isEmpty() || to == nameOf(facts)) return false;
  Q_EMIT renamed(QString::fromStdString(facts.name), to);
  return true;
}

}  // namespace loom

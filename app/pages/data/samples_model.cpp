#include "app/pages/data/samples_model.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/date.h"
#include "widgets/table/column_list.h"

namespace loom {
namespace {

constexpr qsizetype kPictureBytes = qsizetype{128} << 20;
constexpr int kBlocks = 400;               // that are kept
constexpr std::size_t kMostWanted = 4096;  // what is older was scrolled past

bool isBlank(const std::string& text) {
  return text.find_first_not_of(" \t") == std::string::npos;
}

bool isDate(const std::string& text) {
  Date date;
  for (const DateOrder order : {DateOrder::yearFirst, DateOrder::dayFirst, DateOrder::monthFirst})
    if (parseDate(text, order, date)) return true;
  return false;
}

}  // namespace

SamplesModel::SamplesModel(QObject* parent)
    : QAbstractTableModel(parent),
      m_blocks(kBlocks),
      m_pictures(kPictureBytes),
      m_reader(std::make_unique<NewestTask>()) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &SamplesModel::readWanted);
}

void SamplesModel::setRows(SampleRows rows) {
  const auto columnsOf = [](const SampleRows& of) { return of.facts ? of.facts->columns.size() : 0; };
  const bool samePart = rows.rows == m_shown.rows || (rows.rows && m_shown.rows && *rows.rows == *m_shown.rows);
  const bool grows = rows.csv == m_shown.csv && samePart && columnsOf(rows) == columnsOf(m_shown) && rows.facts &&
                     m_shown.facts && rows.facts->rows >= m_shown.facts->rows &&
                     rows.facts->format == m_shown.facts->format;
  m_strays.clear();
  if (rows.facts)
    for (const StrayRow& each : rows.facts->strays) m_strays[each.line] = QString::fromStdString(each.why);
  if (!grows) {
    beginResetModel();
    m_shown = std::move(rows);
    forget();
    endResetModel();
    return;
  }
  const bool same = rows.classNames == m_shown.classNames;
  const int before = rowCount();
  const auto after = static_cast<int>(
      rows.rows ? rows.rows->size() : std::min<std::int64_t>(rows.facts->rows, std::numeric_limits<int>::max()));
  if (after > before) {
    m_blocks.remove(before / kBlock);  // it was cut short
    beginInsertRows({}, before, after - 1);
    m_shown = std::move(rows);
    endInsertRows();
  } else {
    m_shown = std::move(rows);
  }
  if (!same) m_pictures.clear();
  Q_EMIT headerDataChanged(Qt::Horizontal, 0, std::max(0, columnCount() - 1));
  repaint();
}

void SamplesModel::setSkipped(std::set<std::int64_t> lines, bool strays, std::set<std::string> columns) {
  if (lines == m_skippedLines && strays == m_skipsStrays && columns == m_leftOut) return;
  m_skippedLines = std::move(lines);
  m_skipsStrays = strays;
  m_leftOut = std::move(columns);
  repaint();
}

void SamplesModel::setPictureSide(int side) {
  const bool larger = side > m_pictureSide;
  m_pictureSide = side;
  if (!larger) return;
  m_pictures.clear();
  repaint();
}

// What is being read is forgotten, too, and held up by nothing: it was asked for with what no longer holds.
void SamplesModel::forget() {
  m_pictures.clear();
  m_blocks.clear();
  m_wantedBlocks.clear();
  m_wantedFiles.clear();
  m_askedFiles.clear();
  m_reader = std::make_unique<NewestTask>();
}

void SamplesModel::repaint() {
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int SamplesModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid() || !m_shown.facts) return 0;
  const std::int64_t rows = m_shown.rows ? static_cast<std::int64_t>(m_shown.rows->size()) : m_shown.facts->rows;
  return static_cast<int>(std::min<std::int64_t>(rows, std::numeric_limits<int>::max()));
}

int SamplesModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid() || !m_shown.facts || m_shown.facts->columns.empty()) return 0;
  return 1 + static_cast<int>(m_shown.facts->columns.size());
}

bool SamplesModel::isPicture(int column) const {
  if (column <= 0 || column >= columnCount()) return false;
  const ColumnType type = this->column(column).type;
  return type == ColumnType::picture || type == ColumnType::sound;
}

bool SamplesModel::isFile(int column) const {
  const ColumnType type = this->column(column).type;
  return type == ColumnType::picture || type == ColumnType::sound || type == ColumnType::matrix;
}

bool SamplesModel::isNumber(int column) const {
  if (column <= 0 || column >= columnCount()) return false;
  const ColumnFacts& facts = this->column(column);
  return facts.type == ColumnType::number || (facts.type == ColumnType::classes && !facts.histogram.empty());
}

int SamplesModel::widthOfWords(int column, const QFontMetrics& metrics) const {
  const ColumnFacts& facts = this->column(column);
  if (facts.type == ColumnType::date) return metrics.horizontalAdvance(QStringLiteral("2024-12-31"));
  if (facts.words.empty() || facts.type != ColumnType::classes) return 160;
  int width = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(facts.words.size(), 20); ++i)
    width = std::max(width, metrics.horizontalAdvance(QString::fromStdString(facts.words[i].word)));
  return width;
}

int SamplesModel::columnOf(const std::string& name) const {
  for (std::size_t c = 0; m_shown.facts && c < m_shown.facts->columns.size(); ++c)
    if (m_shown.facts->columns[c].name == name) return 1 + static_cast<int>(c);
  return -1;
}

std::string SamplesModel::columnName(int column) const {
  return column > 0 && column < columnCount() ? this->column(column).name : std::string();
}

int SamplesModel::rowOfFile(std::int64_t row) const {
  if (!m_shown.rows) return row >= 0 && row < rowCount() ? static_cast<int>(row) : -1;
  const auto found = std::lower_bound(m_shown.rows->begin(), m_shown.rows->end(), row);
  return found == m_shown.rows->end() ? -1 : static_cast<int>(found - m_shown.rows->begin());
}

std::int64_t SamplesModel::fileRow(int row) const {
  return m_shown.rows ? (*m_shown.rows)[static_cast<std::size_t>(row)] : row;
}

int SamplesModel::rowOfLine(std::int64_t line) const {
  if (!m_shown.facts || rowCount() == 0) return -1;
  for (const int block : m_blocks.keys()) {
    const TableSample& read = *m_blocks.object(block);
    const auto found = std::lower_bound(read.lines.begin(), read.lines.end(), line);
    if (found != read.lines.end() && *found == line)
      return block * kBlock + static_cast<int>(found - read.lines.begin());
  }
  // From the nearest place that is known: a line a row.
  std::int64_t row = line - 2;
  for (const TableFacts::Place& place : m_shown.facts->places) {
    if (place.line > line) break;
    row = place.row + line - place.line;
  }
  return rowOfFile(std::max<std::int64_t>(row, 0));
}

const std::vector<std::string>* SamplesModel::cellsOf(int row) const {
  const int block = row / kBlock, at = row % kBlock;
  if (const TableSample* const read = m_blocks.object(block))
    return at < static_cast<int>(read->cells.size()) ? &read->cells[static_cast<std::size_t>(at)] : nullptr;
  if (std::find(m_wantedBlocks.begin(), m_wantedBlocks.end(), block) == m_wantedBlocks.end()) {
    m_wantedBlocks.push_back(block);
    if (m_wantedBlocks.size() > 8) m_wantedBlocks.erase(m_wantedBlocks.begin());  // scrolled past
    if (!m_reader->busy() && !m_soon.isActive()) m_soon.start();
  }
  return nullptr;
}

std::int64_t SamplesModel::lineOf(int row) const {
  const int at = row % kBlock;
  if (!cellsOf(row)) return 0;
  return m_blocks.object(row / kBlock)->lines[static_cast<std::size_t>(at)];
}

int SamplesModel::sampleOf(int row) const {
  if (m_shown.rows || row < 0) return row;
  return row - static_cast<int>(std::distance(m_skippedLines.begin(), m_skippedLines.lower_bound(lineOf(row))));
}

TableSample SamplesModel::rowsAt(int first, int count) const {
  TableSample rows;
  if (!m_shown.facts) return rows;
  for (const ColumnFacts& each : m_shown.facts->columns) rows.header.push_back(each.header);
  for (int row = std::max(first, 0); row < std::min(first + count, rowCount()); ++row) {
    const std::vector<std::string>* const cells = cellsOf(row);
    if (!cells) continue;
    rows.rows.push_back(fileRow(row));
    rows.lines.push_back(lineOf(row));
    rows.cells.push_back(*cells);
  }
  return rows;
}

std::filesystem::path SamplesModel::fileOf(int row, ColumnType type) const {
  const std::vector<std::string>* const cells = row >= 0 && row < rowCount() ? cellsOf(row) : nullptr;
  if (!cells) return {};
  const std::vector<ColumnFacts>& columns = m_shown.facts->columns;
  for (std::size_t c = 0; c < std::min(columns.size(), cells->size()); ++c)
    if (columns[c].type == type && !m_leftOut.contains(columns[c].name)) return placeOf((*cells)[c]);
  return {};
}

const SamplesModel::File* SamplesModel::fileOf(const Cell& cell, const std::string& path) const {
  if (const File* const known = m_pictures.object(cell.key())) return known;
  if (m_askedFiles.contains(cell.key())) return nullptr;
  m_askedFiles.insert(cell.key());
  m_wantedFiles.push_back({cell, placeOf(path), {}, {}, {}});
  if (m_wantedFiles.size() > kMostWanted) {
    m_askedFiles.remove(m_wantedFiles.front().cell.key());
    m_wantedFiles.erase(m_wantedFiles.begin());
  }
  if (!m_reader->busy() && !m_soon.isActive()) m_soon.start();
  return nullptr;
}

SamplesModel::CellState SamplesModel::stateOf(int row, int column) const {
  const std::vector<std::string>* const cells = cellsOf(row);
  if (!cells) return fine;
  const std::int64_t line = lineOf(row);
  const bool isStray = line > 0 && (cells->size() != m_shown.facts->columns.size() || m_strays.contains(line));
  if (m_skippedLines.contains(line) || (isStray && m_skipsStrays)) return skipped;
  if (isStray) return stray;
  if (column == 0 || static_cast<std::size_t>(column) > cells->size()) return fine;
  const ColumnFacts& facts = this->column(column);
  if (m_leftOut.contains(facts.name)) return skipped;
  const std::string& text = (*cells)[static_cast<std::size_t>(column - 1)];
  if (isBlank(text)) return missing;
  double value;
  const auto place = static_cast<std::size_t>(column - 1);
  const NumberKind kind = cellNumber(text, m_shown.facts->format, place, value);
  if (isNumber(column)) return kind == NumberKind::number ? fine : kind == NumberKind::empty ? missing : unreadable;
  if (facts.type == ColumnType::date) return kind == NumberKind::empty ? missing : isDate(text) ? fine : unreadable;
  if (isFile(column))
    if (const File* const file = fileOf({row, column}, text); file && !file->fault.isEmpty()) return unreadable;
  return fine;
}

QString SamplesModel::reasonOf(int row, int column) const {
  const CellState state = stateOf(row, column);
  if (state == skipped) return tr("left out by a step of preparation");
  if (state == stray) {
    const auto why = m_strays.find(lineOf(row));
    return why != m_strays.end() ? tr("This row is no data: %1").arg(why->second)
                                 : tr("This row is no data: it has %1 cells, the header has %2")
                                       .arg(cellsOf(row)->size())
                                       .arg(m_shown.facts->columns.size());
  }
  if (state == missing) return tr("%1 is missing here").arg(shownName(this->column(column)));
  if (state != unreadable) return {};
  if (isFile(column)) return fileOf({row, column}, (*cellsOf(row))[static_cast<std::size_t>(column - 1)])->fault;
  return this->column(column).type == ColumnType::date ? tr("This is no date, as most of the column are")
                                                       : tr("This is no number, as most of the column are");
}

QString SamplesModel::textOf(int row, int column) const {
  const std::vector<std::string>* const cells = cellsOf(row);
  if (!cells) return QString::fromUtf8(kNotYet);
  if (column == 0) return lineOf(row) > 0 ? QStringLiteral("%L1").arg(qint64{lineOf(row)}) : QString();
  if (static_cast<std::size_t>(column) > cells->size()) return {};
  const std::string& text = (*cells)[static_cast<std::size_t>(column - 1)];
  const CellState state = stateOf(row, column);
  if (state == missing) return tr("missing");
  QString shown = QString::fromStdString(text);
  if (state == fine && isFile(column)) {
    const File* const file = fileOf({row, column}, text);
    return file ? file->text : QString::fromUtf8(kNotYet);
  }
  if (const auto names = m_shown.classNames.find(this->column(column).name);
      state == fine && names != m_shown.classNames.end()) {
    bool whole = false;
    if (const int label = shown.toInt(&whole); whole && label >= 0 && label < names->second.size())
      shown += QStringLiteral("  ") + names->second[label];
  }
  return shown;
}

QVariant SamplesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const int row = index.row(), column = index.column();
  switch (role) {
    case Qt::DisplayRole:
      return textOf(row, column);
    case Qt::ToolTipRole:
    case fault: {
      const QString reason = reasonOf(row, column);
      return reason.isEmpty() ? QVariant() : QVariant(reason);
    }
    case state:
      return stateOf(row, column);
    case number:
      return isNumber(column);
    case picture: {
      const std::vector<std::string>* const cells = cellsOf(row);
      if (!cells || !isPicture(column) || static_cast<std::size_t>(column) > cells->size()) return {};
      const std::string& path = (*cells)[static_cast<std::size_t>(column - 1)];
      const File* const file = isBlank(path) ? nullptr : fileOf({row, column}, path);
      return file ? QVariant(file->image) : QVariant();
    }
    default:
      return {};
  }
}

QVariant SamplesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant(
        static_cast<int>((section == 0 || isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter));
  if (role == Qt::DisplayRole) return section == 0 ? tr("line") : shownName(column(section));
  if (role == Qt::ToolTipRole && section > 0) return QString::fromStdString(column(section).header);
  return {};
}

}  // namespace loom

#include "app/pages/data/samples_model.h"

#include <algorithm>
#include <limits>

#include "app/pages/data/sample_picture.h"
#include "engine/base/error.h"

namespace loom {

namespace {

constexpr qsizetype kPictureBytes = qsizetype{128} << 20;
constexpr qsizetype kTexts = 200'000;          // cells
constexpr std::size_t kReadAtOnce = 64;        // cells; what a person has scrolled to meanwhile comes first
constexpr std::size_t kMostWanted = 8192;      // cells; what is older was scrolled past
constexpr std::int64_t kElementColumns = 256;  // of a vector that stand in columns of their own

}  // namespace

SamplesModel::SamplesModel(QObject* parent)
    : QAbstractTableModel(parent),
      m_pictures(kPictureBytes),
      m_texts(kTexts),
      m_reader(std::make_unique<NewestTask>()) {
  m_soon.setSingleShot(true);
  m_soon.setInterval(0);
  connect(&m_soon, &QTimer::timeout, this, &SamplesModel::readWanted);
}

void SamplesModel::setDataset(std::shared_ptr<const Dataset> dataset) {
  beginResetModel();
  m_dataset = std::move(dataset);
  m_text = {};
  m_columns.clear();
  if (m_dataset) {
    const auto& variables = m_dataset->schema().variables;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const std::int64_t elements = variables[v].kind == VariableKind::vector ? variables[v].shape.elements() : 0;
      if (elements < 1 || elements > kElementColumns)
        m_columns.push_back({v, -1});
      else
        for (std::int64_t e = 0; e < elements; ++e) m_columns.push_back({v, e});
    }
  }
  m_faults.clear();
  forgetCells();
  endResetModel();
}

void SamplesModel::setText(TextRows text) {
  beginResetModel();
  m_dataset.reset();
  m_columns.clear();
  forgetCells();
  m_text = std::move(text);
  endResetModel();
}

void SamplesModel::setReport(const CheckReport* report) {
  m_faults.clear();
  if (report) {
    for (const Fault& fault : report->faults)
      if (fault.line > 1 && fault.severity != FaultSeverity::info)
        m_faults.try_emplace(fault.line, QString::fromStdString(fault.message()));
  }
  repaint();
}

void SamplesModel::setClassNames(std::map<std::string, QStringList> names) {
  m_classNames = std::move(names);
  forgetCells();
  repaint();
}

void SamplesModel::setPictureSide(int side) {
  const bool larger = side > m_pictureSide;
  m_pictureSide = side;
  if (!larger) return;
  forgetCells();
  repaint();
}

// What is being read is forgotten, too, and held up by nothing: it was asked for with what no longer holds.
void SamplesModel::forgetCells() {
  m_pictures.clear();
  m_texts.clear();
  m_wanted.clear();
  m_asked.clear();
  m_reader = std::make_unique<NewestTask>();
}

void SamplesModel::repaint() {
  if (rowCount() > 0) Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int SamplesModel::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  if (!m_dataset) return static_cast<int>(m_text.rows.size());
  return static_cast<int>(std::min<std::int64_t>(m_dataset->size(), std::numeric_limits<int>::max()));
}

int SamplesModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  if (!m_dataset) return m_text.header.empty() ? 0 : 1 + static_cast<int>(m_text.header.size());
  return 1 + static_cast<int>(m_columns.size());
}

bool SamplesModel::isPicture(int column) const {
  return m_dataset && column > 0 &&
         m_dataset->schema().variables[m_columns[column - 1].variable].kind == VariableKind::image;
}

bool SamplesModel::isNumber(int column) const {
  if (!m_dataset || column <= 0) return false;
  const Column& shown = m_columns[column - 1];
  return shown.element >= 0 || m_dataset->schema().variables[shown.variable].kind == VariableKind::scalar;
}

int SamplesModel::columnOf(const std::string& variable, int element) const {
  for (std::size_t i = 0; m_dataset && i < m_columns.size(); ++i)
    if (m_dataset->schema().variables[m_columns[i].variable].name == variable && m_columns[i].element == element)
      return 1 + static_cast<int>(i);
  return -1;
}

int SamplesModel::elementOf(int column) const {
  return m_dataset && column > 0 && column < columnCount()
             ? static_cast<int>(m_columns[static_cast<std::size_t>(column - 1)].element)
             : -1;
}

QString SamplesModel::variableOf(int column) const {
  if (!m_dataset || column <= 0 || column >= columnCount()) return {};
  return QString::fromStdString(
      m_dataset->schema().variables[m_columns[static_cast<std::size_t>(column - 1)].variable].name);
}

std::int64_t SamplesModel::lineOf(int row) const {
  return m_dataset ? m_dataset->sourceRow(row) + 2 : m_text.rows[static_cast<std::size_t>(row)].first;
}

int SamplesModel::rowOfLine(std::int64_t line) const {
  int low = 0, high = rowCount();  // lines rise with the rows
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (lineOf(middle) < line)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rowCount() && lineOf(low) == line ? low : -1;
}

QString SamplesModel::Source::text(const Cell& cell) const {
  Shape shape;
  const Column& column = columns[static_cast<std::size_t>(cell.column - 1)];
  const Variable& variable = dataset->schema().variables[column.variable];
  auto bytes = dataset->read(cell.row, column.variable, &shape);
  if (column.element >= 0)
    return sampleText(bytes.subspan(static_cast<std::size_t>(column.element) * bytesOf(variable.type)), Shape{1},
                      variable.type);
  if (variable.kind == VariableKind::image) return QString::fromStdString(shape.toString());
  QString text = sampleText(bytes, shape, variable.type);
  if (variable.kind == VariableKind::scalar) {
    bool integer = false;
    const int label = text.toInt(&integer);
    const auto names = classNames.find(variable.name);
    if (integer && names != classNames.end() && label >= 0 && label < names->second.size())
      text += QStringLiteral("  ") + names->second[label];
  }
  if (variable.kind == VariableKind::wave || variable.kind == VariableKind::matrix)
    text = QString::fromStdString(shape.toString()) + QStringLiteral("   ") + text;
  return text;
}

QImage SamplesModel::Source::image(const Cell& cell) const {
  Shape shape;
  const std::size_t variable = columns[static_cast<std::size_t>(cell.column - 1)].variable;
  const auto bytes = dataset->read(cell.row, variable, &shape);
  const QImage image = samplePicture(bytes, shape, dataset->schema().variables[variable].type);
  if (image.width() <= pictureSide && image.height() <= pictureSide) return image;
  return image.scaled(pictureSide, pictureSide, Qt::KeepAspectRatio, Qt::SmoothTransformation);
}

SamplesModel::Found SamplesModel::Source::read(const Cell& cell) const {
  Found found{cell, {}, {}};
  try {
    if (cell.picture)
      found.image = image(cell);
    else
      found.text = text(cell);
  } catch (const Error& error) {
    found.text = QString::fromStdString(error.message());
  }
  return found;
}

void SamplesModel::want(const Cell& cell) const {
  if (m_asked.contains(cell.key())) return;
  m_asked.insert(cell.key());
  m_wanted.push_back(cell);
  if (!m_reader->busy() && !m_soon.isActive()) m_soon.start();
}

void SamplesModel::readWanted() {
  if (m_wanted.empty() || m_reader->busy()) return;
  if (m_wanted.size() > kMostWanted) {
    const auto newest = m_wanted.end() - kMostWanted;
    for (auto old = m_wanted.begin(); old != newest; ++old) m_asked.remove(old->key());
    m_wanted.erase(m_wanted.begin(), newest);
  }
  const auto first = m_wanted.end() - static_cast<std::ptrdiff_t>(std::min(kReadAtOnce, m_wanted.size()));
  std::vector<Cell> cells(first, m_wanted.end());
  m_wanted.erase(first, m_wanted.end());
  m_reader->ask([this, cells = std::move(cells), source = Source{m_dataset, m_columns, m_classNames, m_pictureSide}](
                    const std::atomic<bool>& outdated) -> NewestTask::Answer {
    std::vector<Found> found;
    for (const Cell& cell : cells) {
      if (outdated) return {};
      found.push_back(source.read(cell));
    }
    return [this, found = std::move(found)] { take(found); };
  });
}

void SamplesModel::take(const std::vector<Found>& found) {
  for (const Found& each : found) {
    m_asked.remove(each.cell.key());
    if (each.cell.picture)
      m_pictures.insert(each.cell.key(), new QImage(each.image), std::max<qsizetype>(1, each.image.sizeInBytes()));
    else
      m_texts.insert(each.cell.key(), new QString(each.text));
    const QModelIndex index = this->index(each.cell.row, each.cell.column);
    Q_EMIT dataChanged(index, index);
  }
  readWanted();
}

QVariant SamplesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::int64_t line = lineOf(index.row());
  if (role == fault) {
    const auto found = m_faults.find(line);
    return found == m_faults.end() ? QVariant() : QVariant(found->second);
  }
  if (role == Qt::ToolTipRole) return data(index, fault);
  if (role == number) return isNumber(index.column());
  if (index.column() == 0) return role == Qt::DisplayRole ? QVariant(QString::number(line)) : QVariant();
  if (!m_dataset) {
    const auto& cells = m_text.rows[static_cast<std::size_t>(index.row())].second;
    if ((role != Qt::DisplayRole && role != Qt::AccessibleTextRole) || index.column() > static_cast<int>(cells.size()))
      return {};
    return QString::fromStdString(cells[static_cast<std::size_t>(index.column() - 1)]);
  }
  const Cell cell{index.row(), index.column(), role == picture};
  if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole) {
    if (const QString* known = m_texts.object(cell.key())) return *known;
    want(cell);
    return QString::fromUtf8(kNotYet);
  }
  if (role == picture && isPicture(index.column())) {
    if (const QImage* known = m_pictures.object(cell.key())) return *known;
    want(cell);
  }
  return {};
}

QVariant SamplesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::TextAlignmentRole)
    return QVariant((isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  if (role != Qt::DisplayRole) return {};
  if (section == 0) return QStringLiteral("Line");
  if (!m_dataset) return QString::fromStdString(m_text.header[static_cast<std::size_t>(section - 1)]);
  const Column& column = m_columns[section - 1];
  const Variable& variable = m_dataset->schema().variables[column.variable];
  if (column.element >= 0) {
    const auto element = static_cast<std::size_t>(column.element);
    if (element < variable.elementLabels.size() && !variable.elementLabels[element].empty())
      return QString::fromStdString(variable.elementLabels[element]);
    return QStringLiteral("%1__%2").arg(QString::fromStdString(variable.name)).arg(column.element);
  }
  QString text = QString::fromStdString(variable.name);
  if (!variable.label.empty() && variable.elementLabels.empty()) text += ":" + QString::fromStdString(variable.label);
  return text;
}

}  // namespace loom

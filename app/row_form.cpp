#include "app/row_form.h"

#include <QGridLayout>
#include <QLineEdit>
#include <algorithm>

#include "app/planned_run.h"
#include "engine/base/error.h"
#include "engine/data/dataset.h"
#include "engine/data/import_images.h"
#include "engine/network/analysis.h"
#include "engine/network/flatten.h"
#include "engine/network/project.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr std::int64_t kMostTyped = 64;
constexpr int kCellWidth = 148;

// Of the training set, where its file is still there: the words of its header.
Schema schemaOf(const Project& project, const std::filesystem::path& folder) {
  try {
    if (project.training.updates.empty()) return {};
    const DatasetSpec* const dataset = project.dataset(project.training.updates.front().dataset);
    return dataset ? peekSchema(folder / dataset->csv) : Schema();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

QList<RowColumn> rowColumnsOf(const RunRecord& run) {
  QList<RowColumn> columns;
  try {
    const ReadProject read = readProject(plannedAs(run).snapshot.toStdString(), "the run's project");
    const Project& project = read.project;
    const TrainingSpec& training = project.training;
    if (!read.readable || training.updates.empty()) return {};
    const std::string name =
        training.validationNetwork.empty() ? training.updates.front().network : training.validationNetwork;
    const Network network = flatNetwork(project, name);
    const Program program = lowerForPrediction(network, {});
    const Schema schema = schemaOf(project, run.folder.toStdString());
    std::int64_t numbers = 0;
    for (const DatasetInput& input : datasetInputs(network)) {
      const bool isRead = std::any_of(program.tensors.begin(), program.tensors.end(), [&](const Tensor& tensor) {
        return tensor.role == TensorRole::input && tensor.name == input.node;
      });
      if (!isRead) continue;
      const std::int64_t count = input.shape.elements();
      numbers += count;
      if (input.shape.rank() > 1 || numbers > kMostTyped) return {};
      const QString variable = QString::fromStdString(input.variable);
      const Variable* const column = schema.find(input.variable);
      if (count == 1) {
        const QString label = column ? QString::fromStdString(column->label) : QString();
        columns << RowColumn{variable, label.isEmpty() ? variable : label};
        continue;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        const QString header = QStringLiteral("%1__%2").arg(variable).arg(i);
        const auto place = static_cast<std::size_t>(i);
        const QString label = column && place < column->elementLabels.size()
                                  ? QString::fromStdString(column->elementLabels[place])
                                  : QString();
        columns << RowColumn{header, label.isEmpty() ? header : label};
      }
    }
  } catch (const Error&) {
    return {};
  }
  return columns;
}

RowForm::RowForm(QWidget* parent) : QWidget(parent), m_grid(new QGridLayout(this)) {
  setObjectName("row-form");
  m_grid->setContentsMargins(20, 4, 20, 10);
  m_grid->setHorizontalSpacing(12);
  m_grid->setVerticalSpacing(8);
  m_predict = new Button(tr("Predict"), ButtonKind::outlined, this);
  m_predict->setObjectName("predict-row");
  connect(m_predict, &Button::clicked, this, &RowForm::wanted);
}

void RowForm::setColumns(const QList<RowColumn>& columns) {
  qDeleteAll(m_cells);
  m_cells.clear();
  m_fields.clear();
  m_columns = columns;
  for (const RowColumn& each : columns) {
    auto* const cell = new QWidget(this);
    auto* const column = new QVBoxLayout(cell);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* const label = makeLabel("caption", each.label);
    label->setToolTip(each.header);
    auto* const field = new QLineEdit;
    field->setObjectName("row-" + each.header);
    field->setAccessibleName(each.label);
    column->addWidget(label);
    column->addWidget(field);
    connect(field, &QLineEdit::returnPressed, this, &RowForm::wanted);
    connect(field, &QLineEdit::textEdited, field, [field] { setStyleProperty(field, "problem", QString()); });
    m_cells << cell;
    m_fields << field;
  }
  arrange();
}

void RowForm::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  arrange();
}

void RowForm::arrange() {
  const int across = std::max(1, (width() - 40 + 12) / (kCellWidth + 12));
  while (m_grid->count() > 0) delete m_grid->takeAt(0);
  for (int column = 0; column < m_grid->columnCount(); ++column) m_grid->setColumnStretch(column, 0);
  for (int i = 0; i < m_cells.size(); ++i) {
    m_cells[i]->setFixedWidth(kCellWidth);
    m_grid->addWidget(m_cells[i], i / across, i % across);
    m_cells[i]->show();
  }
  const auto place = static_cast<int>(m_cells.size());
  m_grid->addWidget(m_predict, place / across, place % across, Qt::AlignLeft | Qt::AlignBottom);
  m_grid->setColumnStretch(across, 1);
}

QByteArray RowForm::csv() {
  std::string head, row;
  QLineEdit* wrong = nullptr;
  for (int i = 0; i < m_fields.size(); ++i) {
    const QString text = m_fields[i]->text().trimmed();
    bool number = false;
    text.toDouble(&number);
    setStyleProperty(m_fields[i], "problem", number ? QString() : QStringLiteral("error"));
    m_fields[i]->setToolTip(number ? QString() : tr("%1 takes a number").arg(m_columns[i].label));
    if (!number && !wrong) wrong = m_fields[i];
    head += (i ? "," : "") + csvCell(m_columns[i].header.toStdString());
    row += (i ? "," : "") + text.toStdString();
  }
  if (wrong) {
    wrong->setFocus(Qt::OtherFocusReason);
    return {};
  }
  return QByteArray::fromStdString(head + "\n" + row + "\n");
}

void RowForm::focusFirst() {
  if (!m_fields.isEmpty()) m_fields.first()->setFocus(Qt::TabFocusReason);
}

}  // namespace loom

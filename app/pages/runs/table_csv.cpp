#include "app/pages/runs/table_csv.h"

#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "widgets/controls/expression.h"

namespace loom {
namespace {

const QString kNotThere = QStringLiteral("–");

bool isWritten(ColumnKind kind) {
  return kind != ColumnKind::check && kind != ColumnKind::swatch && kind != ColumnKind::dots;
}

QString cellOf(const QModelIndex& index, ColumnKind kind) {
  if (kind != ColumnKind::number) {
    const QString text = index.data().toString();
    return text == kNotThere ? QString() : text;
  }
  const QVariant value = index.data(kSortRole);
  switch (value.typeId()) {
    case QMetaType::Double:
      return shortestNumber(value.toDouble());
    case QMetaType::Int:
    case QMetaType::LongLong:
      return value.toString();
    default:
      return {};
  }
}

}  // namespace

QString csvCell(QString text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n') && !text.contains('\r')) return text;
  return '"' + text.replace(QStringLiteral("\""), QStringLiteral("\"\"")) + '"';
}

QByteArray tableCsv(const RunRows& rows, const RunsModel& model, const std::vector<int>& all) {
  const std::vector<TableColumn> kinds = model.columns();
  std::vector<int> columns;
  for (const int each : all)
    if (isWritten(kinds[static_cast<std::size_t>(each)].kind)) columns.push_back(each);
  QStringList head{"id"};
  for (const int each : columns) {
    const QString key = model.keyOf(each);
    head << csvCell(key.startsWith('=') ? key.mid(1) : key);
    if (each == RunsModel::best && rows.isGrouped()) head << "best_spread";
  }
  QString text = (head << "folder").join(',') + '\n';
  for (int row = 0; row < rows.rowCount(); ++row) {
    const bool group = rows.index(row, 0).data(RunRows::groupRole).isValid();
    const int own = group ? -1 : model.rowOf(rows.runsOf(row).first());
    QStringList cells{own < 0 ? QString() : csvCell(model.run(own).id)};
    for (const int each : columns) {
      cells << csvCell(cellOf(rows.index(row, each), kinds[static_cast<std::size_t>(each)].kind));
      if (each != RunsModel::best || !rows.isGrouped()) continue;
      const std::optional<double> spread = rows.spreadOf(row);
      cells << (spread ? shortestNumber(*spread) : QString());
    }
    text += (cells << (own < 0 ? QString() : csvCell(model.run(own).folder))).join(',') + '\n';
  }
  return text.toUtf8();
}

}  // namespace loom

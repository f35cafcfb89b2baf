// What the Data page opens over itself: the menu of a column, and how the CSV is written.
#include <QMenu>
#include <algorithm>

#include "app/pages/data/data_page.h"
#include "widgets/controls/button.h"
#include "widgets/controls/popover.h"
#include "widgets/document/project_document.h"
#include "widgets/form/property_form.h"

namespace loom {

void DataPage::openColumnMenu(const QString& column, const QPoint& global) {
  QMenu menu(this);
  const std::string name = column.toStdString();
  const ColumnMark mark = m_roles.marks.contains(name) ? m_roles.marks.at(name) : ColumnMark{};
  const QStringList roles = {tr("Learn from it"), tr("Predict it"), tr("Leave it out")};
  const int role = mark.leftOut ? 2 : mark.target ? 1 : 0;
  for (int i = 0; i < 3; ++i) {
    QAction* const action = menu.addAction(roles[i], this, [this, name, i] { setRole(name, i); });
    action->setCheckable(true);
    action->setChecked(i == role);
  }
  menu.addAction(tr("Rename"), this, [this, name] {
    if (const int row = m_columns->rowOf(name); row >= 0)
      m_columns->view().edit(m_columns->view().model()->index(row, 0));
  });
  bool any = false;
  for (const FeedLine& each : m_roles.feeds) {
    if (each.target || mark.leftOut) continue;
    if (!any) menu.addSeparator();
    any = true;
    menu.addAction(tr("Feed %1 with it").arg(QString::fromStdString(each.node)), this, [this, each, name] {
      std::vector<std::string> columns = each.columns;
      if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
      feed(each, columns);
    });
  }
  bool first = true;
  for (const DataFinding& each : m_findings) {
    if (each.shown.column != column) continue;
    for (const FindingAction& action : actionsFor(each)) {
      if (first) menu.addSeparator();
      first = false;
      menu.addAction(action.text, this, action.act);
    }
  }
  menu.exec(global);
}

// Separator, decimal mark and encoding, where what was recognised is wrong: at once, undone by Ctrl+Z.
void DataPage::openFormat() {
  const DatasetSpec* const dataset = context().document->project().dataset(currentName());
  if (!dataset) return;
  auto* card = new Popover(window());
  card->setObjectName("format-card");
  card->setTitle(tr("How the CSV is written"));
  auto* form = new PropertyForm(FormStyle::page);
  std::vector<std::string> hidden;
  for (const Field& field : datasetEntry().fields)
    if (field.key != "separator" && field.key != "decimal" && field.key != "thousands" && field.key != "encoding" &&
        field.key != "header")
      hidden.push_back(field.key);
  form->setHidden(hidden);
  form->setEntry(datasetEntry(), dataset->extra, QStringLiteral("format"));
  card->contentLayout()->addWidget(form);
  connect(card, &Popover::closed, card, &QObject::deleteLater);
  connect(form, &PropertyForm::edited, this, [this, form](const QString& key, const Json& value) {
    changeWriting({{key.toStdString(), value}});
    if (const DatasetSpec* const now = context().document->project().dataset(currentName())) form->setGiven(now->extra);
  });
  card->openAt(m_format);
}

// Both parts of a file are written in the same way.
void DataPage::changeWriting(const Json& fields) {
  const DatasetSpec* const dataset = context().document->project().dataset(currentName());
  if (!dataset) return;
  context().document->edit(tr("how the CSV is written"), [&fields, csv = dataset->csv](ProjectEdit& edit) {
    for (DatasetSpec& spec : edit.datasets()) {
      if (spec.csv != csv) continue;
      for (const auto& [key, value] : fields.items()) {
        if (value.is_null())
          spec.extra.erase(key);
        else
          spec.extra[key] = value;
      }
    }
  });
}

}  // namespace loom

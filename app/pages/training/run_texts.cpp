#include "app/pages/training/run_texts.h"

#include <QFile>
#include <QHeaderView>
#include <QScrollBar>
#include <QStyle>

#include "app/pages/training/roomy_delegate.h"
#include "app/run_settings.h"
#include "launcher/store/run_store.h"
#include "widgets/document/project_document.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr qint64 kOldest = 512 << 10;  // of a long log its end is shown
constexpr int kLines = 20000;

}  // namespace

RunLog::RunLog(AppContext& context, QWidget* parent) : QPlainTextEdit(parent), m_context(context) {
  setReadOnly(true);
  setFrameShape(QFrame::NoFrame);
  keepFont(this, FontRole::label, Face::numbers);
  setMaximumBlockCount(kLines);
  setLineWrapMode(QPlainTextEdit::NoWrap);
  setAccessibleName(tr("Log"));
  setPlaceholderText(tr("What the run prints stands here."));
}

void RunLog::setRun(const QString& id) {
  const RunRecord* const run = m_context.store->find(id);
  m_path = run ? run->folder + "/log.txt" : QString();
  m_offset = 0;
  clear();
  refresh();
}

void RunLog::refresh() {
  QFile file(m_path);
  if (m_path.isEmpty() || file.size() == m_offset || !file.open(QIODevice::ReadOnly)) return;
  if (file.size() < m_offset) {
    clear();
    m_offset = 0;
  }
  if (m_offset == 0 && file.size() > kOldest) {
    m_offset = file.size() - kOldest;
    file.seek(m_offset);
    file.readLine();
    m_offset = file.pos();
  }
  file.seek(m_offset);
  const QByteArray read = file.readAll();
  const qsizetype whole = read.lastIndexOf('\n') + 1;
  if (whole == 0) return;
  m_offset += whole;
  const bool atEnd = verticalScrollBar()->value() == verticalScrollBar()->maximum();
  appendPlainText(QString::fromUtf8(read.left(whole - 1)));
  if (atEnd) verticalScrollBar()->setValue(verticalScrollBar()->maximum());
}

RunSettings::RunSettings(AppContext& context, QWidget* parent) : QTableWidget(parent), m_context(context) {
  setColumnCount(3);
  setHorizontalHeaderLabels({tr("Setting"), tr("As started"), tr("In the project now")});
  verticalHeader()->hide();
  horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  horizontalHeader()->setStretchLastSection(true);
  horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  setShowGrid(false);
  setItemDelegate(new RoomyDelegate(this));
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setAccessibleName(tr("Settings of the run"));
  connect(context.theme, &Theme::changed, this, [this] { setRun(m_run); });
}

void RunSettings::setRun(const QString& id) {
  m_run = id;
  setRowCount(0);
  const RunRecord* const run = m_context.store->find(id);
  if (!run) return;
  Json now = Json::object();
  if (m_context.document) {
    Json text = Json::parse(m_context.document->text(), nullptr, false);
    if (text.is_object() && text.contains("training")) now = withDefaults(flattenSettings(text["training"]));
  }
  const Theme& theme = *m_context.theme;
  const Json settings = withDefaults(run->settings);
  for (const auto& [key, value] : settings.items()) {
    const int row = rowCount();
    insertRow(row);
    const QString name = QString::fromStdString(key);
    const QString then = textOfSetting(name, value);
    const auto present = now.find(key);
    const QString today = present != now.end() ? textOfSetting(name, *present) : QString();
    const QString texts[] = {labelOfSetting(name), then, today};
    for (int column = 0; column < 3; ++column) {
      auto* item = new QTableWidgetItem(texts[column]);
      if (!column) item->setToolTip(name);
      if (column) item->setFont(theme.numberFont(FontRole::label));
      if (column == 2 && !today.isEmpty() && today != then) item->setForeground(theme.colour(Colour::warning));
      setItem(row, column, item);
    }
  }
}

}  // namespace loom

#include "app/pages/training/run_texts.h"

#include <QApplication>
#include <QFile>
#include <QHeaderView>
#include <QPainter>
#include <QScrollBar>
#include <QStyle>
#include <QStyledItemDelegate>

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

namespace {

// Room between the words of two columns, and before the first.
class RoomyDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QStyleOptionViewItem ground(option);
    initStyleOption(&ground, index);
    ground.text.clear();
    QApplication::style()->drawControl(QStyle::CE_ItemViewItem, &ground, painter, option.widget);
    QStyleOptionViewItem words(option);
    words.rect.adjust(kRoom, 0, -kRoom, 0);
    words.state &= ~(QStyle::State_Selected | QStyle::State_MouseOver | QStyle::State_HasFocus);
    QStyledItemDelegate::paint(painter, words, index);
  }
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    return QStyledItemDelegate::sizeHint(option, index) + QSize(2 * kRoom, 0);
  }

 private:
  static constexpr int kRoom = 12;
};

}  // namespace

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
}

void RunSettings::setRun(const QString& id) {
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

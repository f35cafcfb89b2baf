#include "app/pages/hosts/host_list.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollArea>
#include <QThread>
#include <QVBoxLayout>

#include "app/host_checks.h"
#include "app/pages/hosts/host_delegate.h"
#include "app/pages/hosts/host_texts.h"
#include "app/run_hosts.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "launcher/hosts/ssh_config.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kSoonMs = 150, kMostFound = 30;

}  // namespace

HostList::HostList(AppContext& context, QString sshConfig, QWidget* parent)
    : QFrame(parent), m_context(context), m_sshConfig(std::move(sshConfig)) {
  setProperty("kind", "panel");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(20, 12, 16, 12);
  head->addWidget(makeLabel("title", tr("Hosts")), 1);
  auto* add = new Button("plus", tr("Add host"), ButtonKind::outlined);
  add->setObjectName("add-host");
  head->addWidget(add);
  column->addLayout(head);

  m_adding = new QWidget;
  auto* adding = new QVBoxLayout(m_adding);
  adding->setContentsMargins(16, 0, 16, 12);
  adding->setSpacing(4);
  m_field = new QLineEdit;
  m_field->setObjectName("new-host");
  m_field->setPlaceholderText(tr("user@host, or a configured name"));
  m_field->setAccessibleName(tr("Address of the new host"));
  m_field->installEventFilter(this);
  auto* hint = makeLabel("hint", tr("Enter adds it and checks it at once."));
  m_fault = makeLabel("error");
  m_fault->setObjectName("new-host-fault");
  m_fault->setWordWrap(true);
  m_fault->hide();
  for (QWidget* each : std::initializer_list<QWidget*>{m_field, m_fault, hint}) adding->addWidget(each);
  m_adding->hide();
  column->addWidget(m_adding);

  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget;
  inside->setProperty("kind", "scrolled");
  auto* rows = new QVBoxLayout(inside);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  m_list = new QListWidget;
  m_list->setObjectName("host-list");
  m_list->setAccessibleName(tr("Hosts"));
  m_list->setItemDelegate(new HostDelegate(m_list));
  connect(&Theme::of(this), &Theme::changed, m_list, [this] {
    m_list->doItemsLayout();
    keepListHeight();
  });
  m_list->setFrameShape(QFrame::NoFrame);
  m_list->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setMouseTracking(true);
  m_list->installEventFilter(this);
  rows->addWidget(m_list);
  m_found = new QWidget;
  m_foundRows = new QVBoxLayout(m_found);
  m_foundRows->setContentsMargins(20, 0, 16, 16);
  m_foundRows->setSpacing(0);
  rows->addWidget(m_found);
  rows->addStretch();
  scroll->setWidget(inside);
  column->addWidget(scroll, 1);

  connect(add, &Button::clicked, this, &HostList::startAdding);
  connect(m_field, &QLineEdit::returnPressed, this, [this] {
    if (!m_field->text().trimmed().isEmpty()) Q_EMIT addWanted(m_field->text().trimmed());
  });
  connect(m_field, &QLineEdit::textEdited, m_fault, &QWidget::hide);
  connect(m_list, &QListWidget::currentRowChanged, this, [this] {
    if (!m_filling) Q_EMIT chosen(current());
  });
  const auto again = [this] {
    const QString before = current();
    fill();
    fillFound();
    setCurrent(before);
  };
  HostStore& store = context.hosts->store();
  connect(&store, &HostStore::hostAdded, this, again);
  connect(&store, &HostStore::hostRemoved, this, again);
  connect(&store, &HostStore::hostChanged, this, &HostList::refreshRow);
  connect(context.checks, &HostChecks::changed, this, &HostList::refreshRow);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, [this] {
    for (int i = 0; i < m_list->count(); ++i) refreshRow(m_list->item(i)->data(hostId).toString());
  });
  const auto soon = [this] {
    if (!m_soon.isActive()) m_soon.start();
  };
  connect(context.store, &RunStore::runChanged, this, soon);
  connect(context.store, &RunStore::runAdded, this, soon);
  fill();
  fillFound();
  m_list->setCurrentRow(0);
}

QString HostList::current() const {
  return m_list->currentItem() ? m_list->currentItem()->data(hostId).toString() : QString();
}

void HostList::setCurrent(const QString& host) {
  for (int i = 0; i < m_list->count(); ++i)
    if (m_list->item(i)->data(hostId).toString() == host) return m_list->setCurrentRow(i);
  m_list->setCurrentRow(0);
}

void HostList::fill() {
  m_filling = true;
  m_list->clear();
  const auto add = [this](const QString& id) {
    auto* item = new QListWidgetItem(m_list);
    item->setData(hostId, id);
    refreshRow(id);
  };
  add({});
  for (const Host& each : m_context.hosts->store().hosts()) add(each.id);
  keepListHeight();
  m_filling = false;
}

void HostList::keepListHeight() {
  m_list->setFixedHeight(m_list->count() * HostDelegate::height(m_list) + 4);
}

void HostList::refreshRow(const QString& id) {
  const Host* const host = m_context.hosts->store().find(id);
  for (int i = 0; i < m_list->count(); ++i) {
    QListWidgetItem* const item = m_list->item(i);
    if (item->data(hostId).toString() != id) continue;
    const int cores = QThread::idealThreadCount();
    int running = 0, waiting = 0;
    for (const RunRecord& each : m_context.runHosts->busyOn(id)) ++(isLive(each.state) ? running : waiting);
    HostSign sign = m_context.checks->sign(id);
    const bool usable = sign.status == Status::ok || sign.status == Status::warning;
    if (running > 0 && usable) sign.words += tr(", %1 running").arg(running);
    if (waiting > 0 && usable) sign.words += tr(", %1 waiting").arg(waiting);
    item->setText(m_context.workspace->hostName(id));
    item->setData(Qt::DecorationRole, host ? QStringLiteral("host") : QStringLiteral("terminal"));
    item->setData(hostKind, host         ? kindText(*host)
                            : cores == 1 ? tr("local, 1 core")
                                         : tr("local, %1 cores").arg(cores));
    item->setData(hostOffer, host ? ranksText(host->totalRanks()) + ", " + addressText(*host) : ranksText(1));
    item->setData(hostStatus, static_cast<int>(sign.status));
    item->setData(hostWords, sign.words);
    item->setData(Qt::AccessibleTextRole,
                  QStringLiteral("%1, %2, %3").arg(item->text(), item->data(hostKind).toString(), sign.words));
  }
}

// Names that are in the list already are not offered again.
void HostList::fillFound() {
  while (QLayoutItem* const item = m_foundRows->takeAt(0)) {
    if (item->widget()) item->widget()->hide(), item->widget()->deleteLater();
    delete item;
  }
  const SshConfig config = m_sshConfig.isEmpty() ? SshConfig::standard() : SshConfig(m_sshConfig);
  QList<std::pair<QString, QString>> found;
  for (const QString& name : config.names()) {
    bool known = false;
    for (const Host& each : m_context.hosts->store().hosts()) known |= each.address == name;
    if (known || found.size() >= kMostFound) continue;
    try {
      found.append({name, config.resolve(name).host});
    } catch (const Error&) {
      found.append({name, QString()});  // a circle of jump hosts: the check will say it
    }
  }
  m_found->setVisible(!found.isEmpty());
  if (found.isEmpty()) return;
  auto* line = new QFrame;
  line->setProperty("kind", "hairline");
  m_foundRows->addSpacing(8);
  m_foundRows->addWidget(line);
  m_foundRows->addSpacing(12);
  m_foundRows->addWidget(makeLabel("label", tr("Found in your SSH configuration")));
  m_foundRows->addSpacing(6);
  for (const auto& [name, address] : std::as_const(found)) {
    auto* row = new QWidget;
    auto* inner = new QHBoxLayout(row);
    inner->setContentsMargins(0, 1, 0, 1);
    inner->setSpacing(8);
    auto* title = makeLabel("", QFontMetrics(font()).elidedText(name, Qt::ElideMiddle, 84));
    keepFont(title, FontRole::body, Face::words, 500);
    title->setFixedWidth(84);
    title->setToolTip(name);
    auto* place =
        makeLabel("hint", QFontMetrics(font()).elidedText(address == name ? QString() : address, Qt::ElideMiddle, 120));
    place->setToolTip(address);
    auto* add = new Button(tr("Add"), ButtonKind::link);
    add->setObjectName("add-" + name);
    add->setAccessibleName(tr("Add %1").arg(name));
    connect(add, &Button::clicked, this, [this, name = name] { Q_EMIT addWanted(name); });
    inner->addWidget(title);
    inner->addWidget(place, 1);
    inner->addWidget(add);
    m_foundRows->addWidget(row);
  }
}

void HostList::startAdding() {
  m_adding->show();
  m_field->clear();
  m_fault->hide();
  m_field->setFocus(Qt::OtherFocusReason);
}

void HostList::showFault(const QString& sentence) {
  m_adding->show();
  m_fault->setText(sentence);
  m_fault->show();
}

void HostList::endAdding() {
  m_adding->hide();
  m_list->setFocus(Qt::OtherFocusReason);
}

bool HostList::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (watched == m_field && key == Qt::Key_Escape) {
      endAdding();
      return true;
    }
    if (watched == m_list && key == Qt::Key_Delete && !current().isEmpty()) {
      Q_EMIT removeWanted(current());
      return true;
    }
  }
  if (watched == m_list && event->type() == QEvent::FocusIn) {
    const auto reason = static_cast<QFocusEvent*>(event)->reason();
    m_list->setProperty("keyboard", reason == Qt::TabFocusReason || reason == Qt::BacktabFocusReason ||
                                        reason == Qt::ShortcutFocusReason);
  }
  return QFrame::eventFilter(watched, event);
}

}  // namespace loom

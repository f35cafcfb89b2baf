#include "app/pages/hosts/hosts_page.h"

#include <QHBoxLayout>
#include <QPainter>
#include <QPointer>
#include <QResizeEvent>
#include <QStackedWidget>
#include <QTabBar>
#include <QVBoxLayout>

#include "app/host_checks.h"
#include "app/pages/hosts/host_list.h"
#include "app/pages/hosts/host_texts.h"
#include "app/pages/hosts/host_view.h"
#include "app/pages/hosts/queue_panel.h"
#include "app/run_hosts.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "launcher/hosts/host_store.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kList = 284, kQueue = 396, kNarrow = 1120;

}  // namespace

HostsPage::HostsPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  m_list = new HostList(context, context.workspace->sshConfig());
  m_list->setFixedWidth(kList);
  m_view = new HostView(context);
  m_queue = new QueuePanel(context);
  auto* empty =
      new EmptyState(Figure::hosts, tr("This machine trains without any setting up.\n"
                                       "mpirun over SSH: ranks on one or several hosts that you can sign in on.\n"
                                       "Slurm: jobs of a cluster, submitted on its login node."));
  empty->setAction("plus", tr("Add host"));
  connect(empty, &EmptyState::actionTriggered, m_list, &HostList::startAdding);
  m_empty = empty;

  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(0);
  row->addWidget(m_list);
  row->addWidget(hairline(Qt::Vertical));
  auto* middle = new QVBoxLayout;
  middle->setSpacing(0);
  m_tabs = new QTabBar;
  m_tabs->setObjectName("hosts-tabs");
  m_tabs->addTab(tr("Host"));
  m_tabs->addTab(tr("Queue"));
  m_tabs->hide();
  middle->addWidget(m_tabs);
  m_centre = new QStackedWidget;
  auto* host = new QWidget;
  auto* column = new QVBoxLayout(host);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(m_view, 3);
  column->addWidget(m_empty, 2);
  m_centre->addWidget(host);
  middle->addWidget(m_centre, 1);
  row->addLayout(middle, 1);
  m_right = new QWidget;
  auto* right = new QHBoxLayout(m_right);
  right->setContentsMargins(0, 0, 0, 0);
  right->setSpacing(0);
  right->addWidget(hairline(Qt::Vertical));
  right->addWidget(m_queue);
  m_right->setFixedWidth(kQueue);
  row->addWidget(m_right);

  connect(m_list, &HostList::chosen, this, &HostsPage::choose);
  connect(m_list, &HostList::addWanted, this, &HostsPage::add);
  connect(m_list, &HostList::removeWanted, this, &HostsPage::remove);
  connect(m_view, &HostView::removeWanted, this, &HostsPage::remove);
  connect(m_tabs, &QTabBar::currentChanged, m_centre, &QStackedWidget::setCurrentIndex);
  connect(m_queue, &QueuePanel::lengthChanged, this, &HostsPage::refreshTabs);
  HostStore& store = context.hosts->store();
  connect(&store, &HostStore::hostAdded, this, &HostsPage::refreshEmpty);
  connect(&store, &HostStore::hostRemoved, this, &HostsPage::refreshEmpty);
  makeActions();
  choose({});
  refreshEmpty();
  refreshTabs();
}

void HostsPage::makeActions() {
  addCommand("hosts.add", tr("Add host"), "A", [this] { m_list->startAdding(); });
  addCommand("hosts.check", tr("Check this host"), "F5", [this] { m_view->check(); });
  addCommand("hosts.edit", tr("Edit this host"), "F2", [this] { m_view->edit(!m_view->isEditing()); });
}

void HostsPage::choose(const QString& host) {
  m_view->setHost(host);
  m_queue->setHost(host);
  if (m_narrow) m_tabs->setCurrentIndex(0);
  Q_EMIT statusChanged(host.isEmpty() ? QString() : kindText(*context().hosts->store().find(host)));
}

void HostsPage::add(const QString& text) {
  Host host = hostFromText(text);
  HostStore& store = context().hosts->store();
  if (const QStringList faults = problems(host); !faults.isEmpty()) return m_list->showFault(faults.join('\n'));
  // A second way to a machine is legal, a second name is not.
  const QString name = host.name;
  const auto taken = [&](const QString& wanted) {
    return std::any_of(store.hosts().begin(), store.hosts().end(),
                       [&](const Host& each) { return each.name == wanted; });
  };
  for (int number = 2; taken(host.name); ++number) host.name = QStringLiteral("%1 %2").arg(name).arg(number);
  try {
    const QString id = store.add(host);
    m_list->endAdding();
    m_list->setCurrent(id);
    m_view->check();
  } catch (const Error& error) {
    m_list->showFault(QString::fromStdString(error.what()));
  }
}

void HostsPage::remove(const QString& id) {
  HostStore& store = context().hosts->store();
  const Host* const found = store.find(id);
  if (!found) return;
  const Host host = *found;
  // Without its host a run could be neither followed nor stopped.
  if (const qsizetype busy = context().runHosts->busyOn(id).size(); busy > 0) {
    m_list->showFault(busy == 1
                          ? tr("A run is on %1: stop it first, then remove the host.").arg(host.name)
                          : tr("%1 runs are on %2: stop them first, then remove the host.").arg(busy).arg(host.name));
    return;
  }
  try {
    store.remove(id);
  } catch (const Error& error) {
    return m_list->showFault(QString::fromStdString(error.what()));
  }
  context().notify({tr("%1 removed.").arg(host.name), tr("Undo"), [&store, host, list = QPointer<HostList>(m_list)] {
                      try {
                        const QString again = store.add(host);
                        if (list) list->setCurrent(again);
                      } catch (const Error& error) {
                        if (list) list->showFault(QString::fromStdString(error.what()));
                      }
                    }});
}

void HostsPage::refreshEmpty() {
  m_empty->setVisible(context().hosts->store().hosts().isEmpty());
}

void HostsPage::refreshTabs() {
  m_tabs->setTabText(1, m_queue->length() ? tr("Queue %1").arg(m_queue->length()) : tr("Queue"));
}

void HostsPage::activated() {
  // This machine is at hand: it is checked when it is looked at for the first time, without being asked.
  const HostReport& here = context().checks->report({});
  if (m_view->host().isEmpty() && here.at == 0 && !here.checking) m_view->check();
  m_view->refresh();
  Q_EMIT statusChanged(property("statusWords").toString());
}

bool HostsPage::show(const Place& place) {
  m_list->setCurrent(place.host);
  if (place.field == "add") m_list->startAdding();
  return place.host.isEmpty() || context().hosts->store().find(place.host);
}

QList<QWidget*> HostsPage::areas() const {
  return {m_list->findChild<QWidget*>("host-list"), m_view->findChild<QWidget*>("check-host"), m_queue->scope()};
}

void HostsPage::toggleLeftPanel() {
  m_list->setVisible(!m_list->isVisible());
}

void HostsPage::toggleInspector() {
  if (!m_narrow)
    m_right->setVisible(!m_right->isVisible());
  else
    m_tabs->setCurrentIndex(1 - m_tabs->currentIndex());
}

QJsonObject HostsPage::saveLayout() const {
  return {{"host", m_list->current()}, {"scope", m_queue->scope()->current()}};
}

void HostsPage::restoreLayout(const QJsonObject& layout) {
  m_list->setCurrent(layout["host"].toString(context().workspace->host()));
  m_queue->scope()->setCurrent(std::clamp(layout["scope"].toInt(1), 0, 1));
}

bool HostsPage::settled() const {
  return !context().checks->report(m_view->host()).checking && m_queue->settled();
}

// Where there is no room for three columns the queue is a tab.
void HostsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  const bool narrow = width() < kNarrow;
  if (narrow == m_narrow) return;
  m_narrow = narrow;
  if (narrow)
    m_centre->addWidget(m_queue);
  else
    m_right->layout()->addWidget(m_queue), m_queue->show();
  m_right->setVisible(!narrow);
  m_tabs->setVisible(narrow);
  m_tabs->setCurrentIndex(0);
  m_centre->setCurrentIndex(0);
}

void HostsPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(),
                   context().theme->colour(Colour::app));  // as the host's page; the panels beside it paint themselves
}

}  // namespace loom

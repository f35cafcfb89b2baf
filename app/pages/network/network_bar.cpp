#include "app/pages/network/network_bar.h"

#include <QGraphicsView>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QTabBar>
#include <algorithm>

#include "widgets/canvas/network_scene.h"
#include "widgets/canvas/recorded_figures.h"
#include "widgets/controls/button.h"
#include "widgets/controls/commands.h"
#include "widgets/controls/text.h"
#include "widgets/document/unit_edits.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

QFrame* separator(QWidget* parent) {
  QFrame* const line = hairline(Qt::Vertical, parent);
  line->setFixedSize(1, 20);
  return line;
}

bool mayRemove(const Project& project, const std::string& drawing) {
  return project.unit(drawing) != nullptr ? usesOf(project, drawing).empty() : project.networks.size() > 1;
}

}  // namespace

NetworkBar::NetworkBar(NetworkScene& scene, QWidget* parent) : QWidget(parent), m_scene(scene) {
  keepHeight(this, Size::tabs);
  setAccessibleName(tr("Networks and tools"));
  m_tabs = new QTabBar(this);
  m_tabs->setAccessibleName(tr("Networks of the project"));
  m_tabs->setDrawBase(false);
  m_tabs->setExpanding(false);
  m_tabs->setUsesScrollButtons(true);
  m_tabs->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  m_tabs->setMinimumWidth(60);  // else room for scroll buttons is kept that nobody sees
  m_tabs->setContextMenuPolicy(Qt::CustomContextMenu);
  auto* add = iconButton(QStringLiteral("plus"), tr("Add a network"), this);
  m_undo = iconButton(QStringLiteral("undo"), tr("Undo"), this);
  m_redo = iconButton(QStringLiteral("redo"), tr("Redo"), this);
  m_cost = new Button(QStringLiteral("cost"), {}, ButtonKind::plain, this);
  m_arrange = new Button(QStringLiteral("arrange"), tr("Arrange"), ButtonKind::plain, this);
  // They give way to the tabs.
  m_cost->setShrinks(true);
  m_arrange->setShrinks(true);
  m_arrange->setToolTip(tr("Arrange (Ctrl+L)"));
  m_moreButton = iconButton(QStringLiteral("more"), tr("More"), this);
  m_layers = iconButton(QStringLiteral("grid"), tr("Layers (Ctrl+B)"), this);
  m_inspector = iconButton(QStringLiteral("columns"), tr("Inspector (Ctrl+I)"), this);
  m_more = new QMenu(this);
  m_moreButton->setMenu(nullptr);

  auto* costs = new QMenu(this);
  for (const CostKind kind : kCostKinds) {
    const QString name = costName(kind).left(1).toUpper() + costName(kind).mid(1);
    QAction* action = costs->addAction(CostScale::colours(kind) ? tr("%1, in colours").arg(name) : name);
    connect(action, &QAction::triggered, this, [this, kind] { setCost(kind); });
  }
  costs->addSection(tr("Recorded while it trained, in colours"));
  for (const CostKind kind : kRecordedKinds) {
    QAction* action = costs->addAction(costName(kind).left(1).toUpper() + costName(kind).mid(1));
    connect(action, &QAction::triggered, this, [this, kind] { setCost(kind); });
  }
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(4, 0, 10, 0);
  row->setSpacing(2);
  row->addWidget(m_layers);
  row->addWidget(m_tabs, 0, Qt::AlignBottom);
  row->addWidget(add);
  row->addStretch(1);
  row->addWidget(m_undo);
  row->addWidget(m_redo);
  row->addSpacing(6);
  row->addWidget(separator(this));
  row->addSpacing(6);
  row->addWidget(m_cost);
  row->addSpacing(6);
  row->addWidget(separator(this));
  row->addSpacing(6);
  row->addWidget(m_arrange);
  row->addWidget(m_moreButton);
  row->addWidget(m_inspector);
  m_layers->hide();
  m_inspector->hide();

  m_rename = new QLineEdit(this);
  m_rename->setAccessibleName(tr("Name of the network"));
  m_rename->hide();
  m_rename->installEventFilter(this);

  ProjectDocument& document = m_scene.document();
  QUndoStack& stack = document.undoStack();
  connect(m_undo, &Button::clicked, &stack, &QUndoStack::undo);
  connect(m_redo, &Button::clicked, &stack, &QUndoStack::redo);
  connect(&stack, &QUndoStack::indexChanged, this, &NetworkBar::refreshTools);
  connect(&document, &ProjectDocument::opened, this, &NetworkBar::refreshTabs);
  connect(&document, &ProjectDocument::analysisChanged, this, [this] {
    if (isVisible()) refreshTabs();
  });
  connect(&m_scene, &NetworkScene::networkSwitched, this, &NetworkBar::refreshTabs);
  connect(add, &Button::clicked, this, &NetworkBar::addNetwork);
  connect(m_arrange, &Button::clicked, this, &NetworkBar::arrangeRequested);
  connect(m_layers, &Button::clicked, this, &NetworkBar::layersRequested);
  connect(m_inspector, &Button::clicked, this, &NetworkBar::inspectorRequested);
  connect(m_cost, &Button::clicked, this,
          [this, costs] { costs->popup(m_cost->mapToGlobal(QPoint(0, m_cost->height() + 2))); });
  connect(m_moreButton, &Button::clicked, this, [this] {
    m_more->popup(m_moreButton->mapToGlobal(
        QPoint(m_moreButton->width() - m_more->sizeHint().width(), m_moreButton->height() + 2)));
  });
  connect(m_tabs, &QTabBar::currentChanged, this, [this](int index) {
    const std::string name = m_tabs->tabData(index).toString().toStdString();
    if (index >= 0 && name != m_scene.networkName()) m_scene.setNetwork(name);
  });
  connect(m_tabs, &QTabBar::tabBarDoubleClicked, this, &NetworkBar::renameTab);
  connect(m_tabs, &QTabBar::customContextMenuRequested, this, [this](QPoint at) {
    const int index = m_tabs->tabAt(at);
    if (index < 0) return;
    QMenu menu(this);
    Commands& commands = Commands::around(*this);
    if (commands.find(QStringLiteral("network.rename-tab")) == nullptr) addCommands(commands);
    const QString name = m_tabs->tabData(index).toString();
    const auto line = [&](const char* id, const QString& text = {}) {
      return commands.addTo(menu, QString::fromLatin1(id), this,
                            {.text = text, .picture = {}, .arguments = {{"drawing", name}}});
    };
    line("network.rename-tab", tr("Rename"))->setEnabled(true);
    line("network.remove-tab", tr("Remove"))->setEnabled(mayRemove(m_scene.document().project(), name.toStdString()));
    menu.addSeparator();
    line("network.add-network");
    line("network.add-unit");
    menu.exec(m_tabs->mapToGlobal(at));
  });
  connect(
      &Theme::of(this), &Theme::changed, this,
      [this] {
        refreshTabs();
        update();
      },
      Qt::QueuedConnection);  // the tabs have their new font by then
  refreshTabs();
  refreshTools();
  setCost(m_scene.costKind());
}

int NetworkBar::tabMeant(const QJsonObject& arguments) const {
  if (!arguments.contains("drawing")) return m_tabs->currentIndex();
  for (int index = 0; index < m_tabs->count(); ++index)
    if (m_tabs->tabData(index).toString() == arguments.value("drawing").toString()) return index;
  return -1;
}

void NetworkBar::addCommands(Commands& commands) {
  const auto add = [&](const char* id, const QString& text, const char* sign, auto run,
                       std::function<bool()> possible = {}) {
    commands.add({.id = QString::fromLatin1(id),
                  .group = tr("This page"),
                  .text = text,
                  .keys = {},
                  .scope = QStringLiteral("network"),
                  .icon = QString::fromLatin1(sign),
                  .family = {},
                  .possible = std::move(possible)},
                 this, Commands::Run(run));
  };
  add("network.rename-tab", tr("Rename this drawing"), "rename", [this](const QJsonObject& arguments) {
    if (const int index = tabMeant(arguments); index >= 0) renameTab(index);
  });
  add(
      "network.remove-tab", tr("Remove this drawing"), "delete",
      [this](const QJsonObject& arguments) {
        if (const int index = tabMeant(arguments); index >= 0)
          m_scene.document().removeNetwork(m_tabs->tabData(index).toString().toStdString());
      },
      [this] { return mayRemove(m_scene.document().project(), m_scene.networkName()); });
  add("network.add-network", tr("Add a network"), "network", [this](const QJsonObject&) { addNetwork(); });
  add("network.add-unit", tr("Add a unit"), "unit", [this](const QJsonObject&) {
    m_scene.setNetwork(m_scene.document().addUnit("Unit"));
    refreshTabs();
  });
  add("network.measured-time", tr("Measured time on the cards"), "cost",
      [this](const QJsonObject&) { setCost(CostKind::measuredTime); });
  add("network.colour-gradient-norm", tr("Colour by gradient norm"), "cost",
      [this](const QJsonObject&) { setCost(CostKind::gradientNorm); });
  add("network.colour-update-ratio", tr("Colour by update ratio"), "cost",
      [this](const QJsonObject&) { setCost(CostKind::updateRatio); });
  add("network.colour-dead-units", tr("Colour by dead units"), "cost",
      [this](const QJsonObject&) { setCost(CostKind::deadUnits); });
  add("network.colour-activation-range", tr("Colour by activation range"), "cost",
      [this](const QJsonObject&) { setCost(CostKind::activationRange); });
}

void NetworkBar::setCost(CostKind kind) {
  if (kind != m_scene.costKind()) m_scene.setCostKind(kind);
  const QString words = (isRecorded(kind) ? tr("Colour: %1") : tr("Cost: %1")).arg(costName(kind));
  m_cost->setText(m_narrow ? QString() : words);
  m_cost->setToolTip(CostScale::colours(kind) ? tr("What the colours of the cards show: %1").arg(costName(kind))
                                              : tr("What the bars on the cards show: %1").arg(costName(kind)));
  m_cost->setAccessibleName(words);
}

void NetworkBar::setNarrow(bool narrow) {
  m_narrow = narrow;
  m_arrange->setText(narrow ? QString() : tr("Arrange"));
  m_arrange->setAccessibleName(tr("Arrange"));
  m_layers->setVisible(narrow);
  m_inspector->setVisible(narrow);
  setCost(m_scene.costKind());
}

void NetworkBar::refreshTabs() {
  const QSignalBlocker quiet(m_tabs);
  const Project& project = m_scene.document().project();
  std::vector<const Network*> networks;
  for (const Network& network : project.networks) networks.push_back(&network);
  for (const Network& unit : project.units) networks.push_back(&unit);
  while (m_tabs->count() > static_cast<int>(networks.size())) m_tabs->removeTab(m_tabs->count() - 1);
  int current = 0;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const int index = static_cast<int>(i);
    const QString name = QString::fromStdString(networks[i]->name);
    if (m_tabs->count() <= index) m_tabs->addTab(name);
    m_tabs->setTabText(index, name);
    m_tabs->setTabData(index, name);
    const bool active = networks[i]->name == m_scene.networkName();
    const bool isUnit = i >= project.networks.size();
    if (active) current = index;
    // A fault shows on the tab, by shape as well as by colour.
    // A fault inside a unit is one of the unit and of the network that uses it, of no other.
    const auto& problems = m_scene.document().analysis(networks[i]->name).problems;
    const bool sound =
        networks[i]->nodes.empty() || std::none_of(problems.begin(), problems.end(), [&](const Problem& problem) {
          return problem.severity == Severity::error &&
                 (problem.network == networks[i]->name || problem.user == networks[i]->name);
        });
    m_tabs->setTabIcon(index, sound
                                  ? icon(isUnit ? QStringLiteral("unit") : QStringLiteral("network"),
                                         active ? Colour::accentText : Colour::text2)
                                  : QIcon(iconPixmap(QStringLiteral("status-failed"),
                                                     Theme::of(this).colour(Colour::error), 14, devicePixelRatioF())));
    m_tabs->setTabToolTip(index, sound ? QString() : tr("%1 has faults").arg(name));
  }
  m_tabs->setCurrentIndex(current);
  // As wide as its tabs, so that the plus stands right behind them.
  int wide = 0;
  for (int i = 0; i < m_tabs->count(); ++i) wide += m_tabs->tabRect(i).width();
  m_tabs->setMaximumWidth(std::max(60, wide));
  m_tabs->setMinimumWidth(std::clamp(wide, 60, 2 * m_tabs->fontMetrics().averageCharWidth() * 14));
}

void NetworkBar::refreshTools() {
  const QUndoStack& stack = m_scene.document().undoStack();
  m_undo->setEnabled(stack.canUndo());
  m_redo->setEnabled(stack.canRedo());
  m_undo->setToolTip(stack.canUndo() ? tr("Undo %1 (Ctrl+Z)").arg(stack.undoText()) : tr("Nothing to undo"));
  m_redo->setToolTip(stack.canRedo() ? tr("Redo %1 (Ctrl+Shift+Z)").arg(stack.redoText()) : tr("Nothing to redo"));
}

void NetworkBar::addNetwork() {
  const std::string name = m_scene.document().addNetwork("network");
  m_scene.setNetwork(name);
  refreshTabs();
  // What comes next is drawn or pasted into it; a double click on the tab names it.
  if (!m_scene.views().isEmpty()) m_scene.views().front()->setFocus(Qt::OtherFocusReason);
}

void NetworkBar::renameTab(int index) {
  if (index < 0) return;
  m_renaming = index;
  layout()->activate();  // a tab that was just added has no place yet
  const QRect tab = m_tabs->tabRect(index).translated(m_tabs->pos());
  m_rename->setText(m_tabs->tabText(index));
  m_rename->setGeometry(tab.left() + 4, (height() - 28) / 2, std::max(120, tab.width()), 28);
  m_rename->show();
  m_rename->raise();
  m_rename->selectAll();
  m_rename->setFocus(Qt::OtherFocusReason);
}

void NetworkBar::finishRename(bool keep) {
  if (m_renaming < 0) return;
  const int index = m_renaming;
  const std::string from = m_tabs->tabData(index).toString().toStdString(),
                    to = m_rename->text().trimmed().toStdString();
  if (keep && from != to) {
    const bool shown = from == m_scene.networkName();
    const Outcome outcome = m_scene.document().renameNetwork(from, to);
    if (!outcome) {
      m_rename->setToolTip(outcome.reason);
      setStyleProperty(m_rename, "problem", QStringLiteral("error"));
      return;
    }
    if (shown) m_scene.setNetwork(to);
  }
  m_renaming = -1;
  setStyleProperty(m_rename, "problem", QString());
  m_rename->setToolTip({});
  m_rename->hide();
  refreshTabs();
}

bool NetworkBar::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_rename) return false;
  if (event->type() == QEvent::FocusOut) {
    finishRename(true);
    if (m_renaming >= 0) {  // a name that cannot be: the old one stays
      finishRename(false);
    }
  }
  if (event->type() != QEvent::KeyPress) return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Escape) return finishRename(false), true;
  if (key == Qt::Key_Return || key == Qt::Key_Enter) return finishRename(true), true;
  return false;
}

void NetworkBar::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refreshTabs();
}

void NetworkBar::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.fillRect(rect(), theme.colour(Colour::surface));
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(QPointF(0, height() - 0.5), QPointF(width(), height() - 0.5));
}

}  // namespace loom

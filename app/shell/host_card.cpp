#include "app/shell/host_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "app/pages/hosts/host_texts.h"
#include "app/shell/host_row.h"
#include "app/workspace.h"
#include "launcher/hosts/host_store.h"
#include "widgets/controls/button.h"
#include "widgets/controls/number_field.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kWidth = 320, kMostRows = 8, kRow = 44;

}  // namespace

HostCard::HostCard(Workspace& workspace, QWidget* window) : Popover(window), m_workspace(workspace) {
  setObjectName("host-card");
  setTitle(tr("Train on"));
  auto* list = new QWidget;
  auto* rows = new QVBoxLayout(list);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(1);
  QStringList hosts{QString()};
  for (const Host& each : workspace.hosts().hosts()) hosts << each.id;
  for (const QString& id : std::as_const(hosts)) {
    auto* row = new HostRow(workspace.hostName(id), ranksText(workspace.mostRanks(id)), workspace.checks().sign(id));
    row->setObjectName("choose-" + (id.isEmpty() ? QStringLiteral("this-machine") : id));
    row->setChecked(id == workspace.host());
    connect(row, &HostRow::clicked, this, [this, id] {
      m_workspace.chooseHost(id);
      // One rank needs no second thought; of several a person may want fewer.
      if (m_workspace.mostRanks(id) == 1)
        close();
      else
        refreshRanks();
    });
    rows->addWidget(row);
  }
  if (hosts.size() <= kMostRows) {
    list->setFixedWidth(kWidth);
    contentLayout()->addWidget(list);
  } else {
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFixedSize(kWidth, kMostRows * kRow + kRow / 2);
    scroll->setWidget(list);
    contentLayout()->addWidget(scroll);
  }
  m_ranksRow = new QWidget;
  auto* ranks = new QHBoxLayout(m_ranksRow);
  ranks->setContentsMargins(8, 4, 8, 0);
  auto* label = new QLabel(tr("Ranks"));
  label->setProperty("kind", "field");
  m_ranks = new NumberField(NumberField::Kind::integer);
  m_ranks->setObjectName("ranks");
  m_ranks->setAccessibleName(tr("Ranks"));
  m_ranks->setFixedWidth(90);
  m_most = new QLabel;
  m_most->setProperty("kind", "hint");
  ranks->addWidget(label);
  ranks->addStretch();
  ranks->addWidget(m_most);
  ranks->addWidget(m_ranks);
  contentLayout()->addWidget(m_ranksRow);
  m_fault = new QLabel;
  m_fault->setProperty("kind", "error");
  m_fault->setObjectName("ranks-fault");
  m_fault->setContentsMargins(8, 0, 8, 0);
  m_fault->setWordWrap(true);
  m_fault->setFixedWidth(kWidth);
  m_fault->hide();
  contentLayout()->addWidget(m_fault);
  connect(m_ranks, &NumberField::valueChanged, this, [this](double value) {
    const QString host = m_workspace.host();
    const int most = m_workspace.mostRanks(host);
    const bool fits = value >= 1 && value <= most;
    m_fault->setText((most == 1 ? tr("%1 has 1 rank, not %3: its form on the Hosts page sets more")
                                : tr("%1 has 1 to %2 ranks, not %3: its form on the Hosts page sets more"))
                         .arg(m_workspace.hostName(host))
                         .replace("%2", QString::number(most))
                         .replace("%3", QString::number(value)));
    m_fault->setVisible(!fits);
    adjustSize();
    if (fits) m_workspace.chooseHost(host, static_cast<int>(value));
  });
  connect(m_ranks, &NumberField::returnPressed, this, [this] {
    if (m_fault->isHidden()) close();
  });
  auto* foot = new QHBoxLayout;
  auto* add = new Button("plus", tr("Add host"), ButtonKind::outlined);
  add->setObjectName("card-add-host");
  auto* show = new Button(tr("Show hosts"), ButtonKind::link);
  show->setObjectName("card-show-hosts");
  foot->addWidget(add);
  foot->addStretch();
  foot->addWidget(show);
  contentLayout()->addSpacing(4);
  contentLayout()->addLayout(foot);
  connect(add, &Button::clicked, this, [this] {
    close();
    Q_EMIT addWanted();
  });
  connect(show, &Button::clicked, this, [this] {
    close();
    Q_EMIT hostWanted(m_workspace.host());
  });
  refreshRanks();
}

void HostCard::refreshRanks() {
  const int most = m_workspace.mostRanks(m_workspace.host());
  m_ranksRow->setVisible(!m_workspace.host().isEmpty());
  m_fault->hide();
  m_ranks->setLimits(1, most);
  m_most->setText(tr("of %1").arg(most));
  m_ranks->setValue(m_workspace.ranks());
  adjustSize();
}

}  // namespace loom

#include "app/pages/hosts/host_remains.h"

#include <QCheckBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <algorithm>
#include <numeric>

#include "app/host_checks.h"
#include "app/run_hosts.h"
#include "launcher/remote/host_lines.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kGap = 8;
constexpr int kBoxWidth = 21, kNameWidth = 142;  // names and words stand below those of the check

qint64 bytesIn(const QVector<HostRemain>& remains) {
  return std::accumulate(remains.begin(), remains.end(), qint64{0},
                         [](qint64 sum, const HostRemain& each) { return sum + each.bytes; });
}

}  // namespace

HostRemains::HostRemains(AppContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_total(makeLabel("hint")),
      m_words(makeLabel("field", {}, nullptr, Wrap::yes)),
      m_fault(makeLabel("error", {}, nullptr, Wrap::yes)),
      m_tidy(new Button(tr("Tidy up"), ButtonKind::outlined)),
      m_remove(new Button(tr("Remove for good"), ButtonKind::danger)),
      m_keep(new Button(tr("Keep"), ButtonKind::outlined)) {
  setObjectName("host-remains");
  m_total->setObjectName("remains-total");
  m_words->setObjectName("remains-words");
  m_tidy->setObjectName("tidy-up");
  m_remove->setObjectName("remove-remains");
  m_keep->setObjectName("keep-remains");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 14, 0, 0);
  column->setSpacing(6);
  auto* head = new QHBoxLayout;
  head->addWidget(makeLabel("label", tr("What lies there")), 1);
  head->addWidget(m_total);
  column->addLayout(head);
  auto* frame = new QFrame;
  frame->setProperty("kind", "card");
  auto* inside = new QVBoxLayout(frame);
  inside->setContentsMargins(12, 8, 16, 10);
  inside->setSpacing(8);
  m_rows = new QGridLayout;
  m_rows->setHorizontalSpacing(kGap);
  m_rows->setVerticalSpacing(6);
  m_rows->setColumnMinimumWidth(1, kNameWidth);
  m_rows->setColumnStretch(2, 1);
  inside->addLayout(m_rows);
  inside->addWidget(m_fault);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(8);
  foot->addWidget(m_words, 1);
  for (Button* each : {m_tidy, m_keep, m_remove}) foot->addWidget(each, 0, Qt::AlignTop);
  inside->addLayout(foot);
  column->addWidget(frame);
  connect(m_tidy, &Button::clicked, this, &HostRemains::tidy);
  connect(m_keep, &Button::clicked, this, [this] {
    m_confirms = false;
    refresh();
  });
  connect(m_remove, &Button::clicked, this, [this] { remove(chosen()); });
  connect(context.hosts, &HostLines::stateChanged, this, [this](const QString& host) {
    if (host == m_host) look();
  });
  connect(context.checks, &HostChecks::changed, this, [this](const QString& host) {
    if (host == m_host) look();
  });
  refresh();
}

HostLine* HostRemains::line() const {
  return m_host.isEmpty() ? nullptr : m_context.hosts->known(m_host);
}

void HostRemains::setHost(const QString& host) {
  m_host = host;
  m_remains.clear();
  m_told = m_asked = m_removing = m_confirms = false;
  m_awaited = 0;
  m_checked = 0;
  m_fault->clear();
  m_words->clear();
  rebuild();
  look();
}

void HostRemains::setWanted(bool wanted) {
  m_wanted = wanted;
  look();
}

// Once a connection, and again after each check, which may have brought an engine. Not during one: it measures times.
void HostRemains::look() {
  HostLine* const there = line();
  const HostReport& report = m_context.checks->report(m_host);
  if (!there || there->state() != LineState::online)
    m_asked = false;
  else if (m_wanted && !report.checking && (!m_asked || report.at > m_checked)) {
    m_asked = true;
    m_checked = report.at;
    there->disconnect(this);
    connect(there, &HostLine::remains, this, &HostRemains::take);
    ++m_awaited;
    there->tidy();
  }
  refresh();
}

void HostRemains::take(const QVector<HostRemain>& remains, const QString& fault) {
  if (sender() != line()) return;  // of the host that was shown before
  m_awaited = std::max(0, m_awaited - 1);
  if (m_awaited > 0) return;  // the newest answer holds
  const bool removed = std::exchange(m_removing, false);
  m_fault->setText(fault.isEmpty() ? QString() : tr("Not tidied up: %1").arg(fault));
  if (fault.isEmpty()) {
    m_told = true;
    m_remains = remains;
    if (removed)
      m_words->setText(
          tr("%1 freed.").arg(formatBytes(static_cast<double>(std::max<qint64>(0, m_before - bytesIn(remains))))));
    rebuild();
  }
  refresh();
}

QVector<RemainGroup> HostRemains::groups() const {
  return groupRemains(m_remains, *m_context.store, m_context.runHosts->busyOn(m_host));
}

void HostRemains::rebuild() {
  while (QLayoutItem* const item = m_rows->takeAt(0)) {
    if (item->widget()) item->widget()->hide(), item->widget()->deleteLater();
    delete item;
  }
  m_boxes.clear();
  m_groups = m_told ? groups() : QVector<RemainGroup>();
  m_confirms = false;
  // A column without a box gets no gap behind it.
  const bool boxes = std::any_of(m_groups.begin(), m_groups.end(),
                                 [](const RemainGroup& each) { return each.fate == RemainGroup::Fate::decided; });
  m_rows->setColumnMinimumWidth(0, boxes ? kBoxWidth : kBoxWidth + kGap);
  for (const RemainGroup& each : std::as_const(m_groups)) {
    const int row = m_rows->rowCount();
    QCheckBox* box = nullptr;
    if (each.fate == RemainGroup::Fate::decided) {
      box = new QCheckBox;
      box->setObjectName("remain-" + each.paths.first());
      box->setAccessibleName(tr("%1, %2: remove").arg(each.name, formatBytes(static_cast<double>(each.bytes))));
      connect(box, &QCheckBox::toggled, this, [this] {
        m_confirms = false;
        m_words->clear();
        refresh();
      });
      m_rows->addWidget(box, row, 0, Qt::AlignTop);
    }
    m_boxes << box;
    auto* name = makeLabel("", each.name);
    keepFont(name, FontRole::body, Face::words, 500);
    name->setToolTip(each.paths.mid(0, 20).join('\n'));
    auto* size = makeLabel("number", formatBytes(static_cast<double>(each.bytes)));
    keepFont(size, FontRole::label, Face::numbers);
    m_rows->addWidget(name, row, 1, Qt::AlignTop);
    m_rows->addWidget(makeLabel("field", each.words, nullptr, Wrap::yes), row, 2, Qt::AlignTop);
    m_rows->addWidget(size, row, 3, Qt::AlignTop | Qt::AlignRight);
  }
}

QStringList HostRemains::chosen(qint64* bytes) const {
  QStringList paths;
  for (qsizetype i = 0; i < m_groups.size(); ++i) {
    if (!m_boxes[i] || !m_boxes[i]->isChecked()) continue;
    paths << m_groups[i].paths;
    if (bytes) *bytes += m_groups[i].bytes;
  }
  return paths;
}

void HostRemains::refresh() {
  const HostLine* const there = line();
  const bool online = there && there->state() == LineState::online;
  const Host* const host = m_context.hosts->store().find(m_host);
  const qint64 total = bytesIn(m_remains);
  m_total->setText(host ? tr("%1 in %2").arg(formatBytes(static_cast<double>(total)), host->folder) : QString());
  qint64 bytes = 0;
  const bool any = !chosen(&bytes).isEmpty();
  const bool goes = std::any_of(m_groups.begin(), m_groups.end(),
                                [](const RemainGroup& each) { return each.fate == RemainGroup::Fate::goes; });
  if (m_confirms)
    m_words->setText(tr("%1 go for good. What a run needs of it is sent again; checkpoints are not.")
                         .arg(formatBytes(static_cast<double>(bytes))));
  else if (any)
    m_words->setText(tr("%1 chosen").arg(formatBytes(static_cast<double>(bytes))));
  m_tidy->setVisible(!m_confirms && (any || goes || m_removing));
  m_tidy->setText(m_removing ? tr("Tidying up") : tr("Tidy up"));
  m_tidy->setEnabled(online && !m_removing);
  m_keep->setVisible(m_confirms);
  m_remove->setVisible(m_confirms);
  m_remove->setEnabled(online);
  m_fault->setVisible(!m_fault->text().isEmpty());
  m_words->setVisible(!m_words->text().isEmpty());
  setVisible(m_wanted && m_told && !m_groups.isEmpty());
}

void HostRemains::tidy() {
  if (chosen().isEmpty()) return remove({});
  m_confirms = true;
  refresh();
  m_keep->setFocus(Qt::OtherFocusReason);
}

// With what goes without a question. A run that began meanwhile keeps what it needs.
void HostRemains::remove(const QStringList& paths) {
  HostLine* const there = line();
  if (!there) return;
  QStringList all;
  for (const RemainGroup& each : groups())
    for (const QString& path : each.paths)
      if (each.fate == RemainGroup::Fate::goes || (each.fate == RemainGroup::Fate::decided && paths.contains(path)))
        all << path;
  m_before = bytesIn(m_remains);
  m_removing = true;
  m_confirms = false;
  m_words->clear();
  ++m_awaited;
  there->tidy(all);
  refresh();
}

}  // namespace loom

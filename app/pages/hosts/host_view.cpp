#include "app/pages/hosts/host_view.h"

#include <QDir>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QScrollArea>
#include <QThread>
#include <QVBoxLayout>

#include "app/host_checks.h"
#include "app/pages/hosts/check_row.h"
#include "app/pages/hosts/host_form.h"
#include "app/pages/hosts/host_links.h"
#include "app/pages/hosts/host_remains.h"
#include "app/pages/hosts/host_texts.h"
#include "app/run_display.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "launcher/hosts/host_store.h"
#include "launcher/remote/data_size.h"
#include "launcher/remote/launch_order.h"
#include "widgets/controls/button.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/status_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kMargin = 24, kWidest = 860;

QStringList csvsOf(const ProjectDocument& document) {
  QStringList csvs;
  for (const DatasetSpec& each : document.project().datasets)
    csvs << QDir::cleanPath(QDir(document.folder()).absoluteFilePath(QString::fromStdString(each.csv)));
  return csvs;
}

}  // namespace

HostView::HostView(AppContext& context, QWidget* parent) : QWidget(parent), m_context(context) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  makeHeader(column);
  m_scroll = new QScrollArea;
  m_scroll->setObjectName("host-scroll");
  m_scroll->setWidgetResizable(true);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* inside = new QWidget;
  inside->setProperty("kind", "scrolled");
  auto* across = new QHBoxLayout(inside);
  across->setContentsMargins(kMargin, 16, 20, 20);
  auto* content = new QWidget;
  content->setMaximumWidth(kWidest);
  across->addWidget(content, 1, Qt::AlignTop);
  auto* rows = new QVBoxLayout(content);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  m_checks = new QWidget;
  m_cards = new QVBoxLayout(m_checks);
  m_cards->setContentsMargins(0, 0, 0, 0);
  m_cards->setSpacing(0);
  m_form = new HostForm(context);
  connect(m_form, &HostForm::removeWanted, this, [this] { Q_EMIT removeWanted(m_host); });
  connect(m_form, &HostForm::doneWanted, this, [this] { edit(false); });
  m_script = new QWidget;
  auto* script = new QVBoxLayout(m_script);
  script->setContentsMargins(0, 4, 0, 16);
  script->setSpacing(6);
  auto* head = new QHBoxLayout;
  auto* title = makeLabel("label");
  title->setText(tr("Job script, as it will be submitted"));
  auto* copy = new Button("copy", tr("Copy"), ButtonKind::outlined);
  copy->setObjectName("copy-script");
  head->addWidget(title, 1);
  head->addWidget(copy);
  script->addLayout(head);
  auto* frame = new QFrame;
  frame->setProperty("kind", "card");
  auto* inner = new QVBoxLayout(frame);
  inner->setContentsMargins(16, 10, 16, 12);
  m_scriptText = makeLabel("number", {}, nullptr, Wrap::yes);
  m_scriptText->setObjectName("job-script");
  m_scriptText->setTextInteractionFlags(Qt::TextSelectableByMouse);
  keepFont(m_scriptText, FontRole::label, Face::numbers);
  inner->addWidget(m_scriptText);
  script->addWidget(frame);
  connect(copy, &Button::clicked, this, [this, copy] { copyFrom(*copy, m_scriptText->text()); });
  rows->addWidget(m_form);
  rows->addWidget(m_script);
  rows->addWidget(m_checks);
  m_links = new HostLinks(context);
  rows->addWidget(m_links);
  m_remains = new HostRemains(context);
  rows->addWidget(m_remains);
  rows->addStretch();
  m_scroll->setWidget(inside);
  column->addWidget(m_scroll, 1);
  connect(context.checks, &HostChecks::changed, this, [this](const QString& host) {
    if (host == m_host) refresh();
  });
  connect(&context.hosts->store(), &HostStore::hostChanged, this, [this](const QString& host) {
    if (host == m_host) refresh();
  });
}

void HostView::makeHeader(QVBoxLayout* column) {
  auto* header = new QFrame;
  header->setProperty("kind", "panel");
  auto* rows = new QVBoxLayout(header);
  rows->setContentsMargins(kMargin, 14, 20, 10);
  rows->setSpacing(2);
  auto* top = new QHBoxLayout;
  top->setSpacing(12);
  m_name = makeLabel("title");
  m_name->setObjectName("host-name");
  m_counts = new StatusLabel;
  m_counts->setObjectName("host-counts");
  m_edit = new Button(tr("Edit"), ButtonKind::outlined);
  m_edit->setObjectName("edit-host");
  m_check = new Button(tr("Check"), ButtonKind::tinted);
  m_check->setObjectName("check-host");
  top->addWidget(m_name);
  top->addWidget(m_counts);
  top->addStretch();
  top->addWidget(m_edit);
  top->addWidget(m_check);
  m_place = makeLabel("field", {}, nullptr, Wrap::yes);
  m_place->setObjectName("host-place");
  m_checked = makeLabel("hint", {}, nullptr, Wrap::yes);
  m_checked->setObjectName("host-checked");
  rows->addLayout(top);
  rows->addWidget(m_place);
  rows->addWidget(m_checked);
  column->addWidget(header);
  auto* line = new QFrame;
  line->setProperty("kind", "hairline");
  column->addWidget(line);

  m_fault = new QFrame;
  m_fault->setObjectName("host-fault");
  m_fault->setAutoFillBackground(true);
  auto* fault = new QHBoxLayout(m_fault);
  fault->setContentsMargins(kMargin, 8, 20, 8);
  fault->setSpacing(10);
  fault->addWidget(new IconLabel("status-failed", Colour::error, 14), 0, Qt::AlignTop);
  m_faultText = makeLabel("", {}, nullptr, Wrap::yes);
  m_faultText->setObjectName("host-fault-text");
  m_faultText->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_connect = new Button(tr("Connect now"), ButtonKind::outlined);
  m_connect->setObjectName("connect-now");
  fault->addWidget(m_faultText, 1);
  fault->addWidget(m_connect, 0, Qt::AlignTop);
  column->addWidget(m_fault);
  connect(m_edit, &Button::clicked, this, [this] { edit(!m_editing); });
  connect(m_check, &Button::clicked, this, &HostView::check);
  connect(m_connect, &Button::clicked, this, [this] {
    if (HostLine* const line = m_context.hosts->line(m_host)) line->connectNow();
  });
}

void HostView::setHost(const QString& host) {
  m_host = host;
  m_editing = false;
  for (const Card& each : std::as_const(m_byTitle)) {
    delete each.title;
    delete each.frame;
  }
  m_byTitle.clear();
  m_scroll->ensureVisible(0, 0);
  m_form->setHost(host);
  m_links->setHost(host);
  m_remains->setHost(host);
  refresh();
}

void HostView::edit(bool editing) {
  if (m_host.isEmpty()) return;
  m_editing = editing;
  if (editing) m_form->setHost(m_host);
  m_scroll->ensureVisible(0, 0);
  refresh();
  if (editing) m_form->focusFirst();
}

void HostView::check() {
  edit(false);
  // A host with a data folder of its own is sent nothing, and this machine has it all.
  const Host* const host = m_context.hosts->store().find(m_host);
  if (!m_context.document || !host || !host->dataFolder.isEmpty()) return m_context.checks->check(m_host);
  m_context.checks->check(m_host, [csvs = csvsOf(*m_context.document)] { return packedBytes(csvs); });
}

void HostView::refresh() {
  if (!m_host.isEmpty() && !m_context.hosts->store().find(m_host)) return;
  refreshHeader();
  refreshFault();
  m_form->setVisible(m_editing);
  m_checks->setVisible(!m_editing);
  m_links->setVisible(!m_editing);
  m_links->refresh();
  m_remains->setWanted(!m_editing);
  refreshScript();
  if (!m_editing) refreshChecks();
}

void HostView::refreshHeader() {
  const Host* const host = m_context.hosts->store().find(m_host);
  const HostReport& report = m_context.checks->report(m_host);
  m_name->setText(m_context.workspace->hostName(m_host));
  const HostSign sign = m_context.checks->sign(m_host);
  const QString counts = countsText(report);
  const bool settled = sign.status != Status::running && sign.status != Status::reconnecting && !report.lines.isEmpty();
  m_counts->setStatus(sign.status, settled && !counts.isEmpty() ? counts : sign.words);
  m_edit->setVisible(host);
  m_edit->setText(m_editing ? tr("Done") : tr("Edit"));
  m_check->setText(report.at > 0 || report.checking ? tr("Check again") : tr("Check"));
  m_check->setEnabled(!report.checking);
  const int cores = QThread::idealThreadCount();
  m_place->setText(host         ? placeText(*host, report)
                   : cores == 1 ? tr("Runs start here as processes of their own, with 1 core")
                                : tr("Runs start here as processes of their own, with %1 cores").arg(cores));
  m_checked->setText(checkedText(report));
}

void HostView::refreshFault() {
  const QString sentence = m_context.checks->sentence(m_host);
  m_fault->setVisible(!sentence.isEmpty());
  m_faultText->setText(sentence);
  QPalette palette = m_fault->palette();
  palette.setColor(QPalette::Window, m_context.theme->colour(Colour::errorSoft));
  m_fault->setPalette(palette);
}

HostView::Card& HostView::card(const QString& title) {
  Card& card = m_byTitle[title];
  if (card.frame) return card;
  card.title = makeLabel("label");
  card.title->setText(title);
  card.title->setContentsMargins(0, m_byTitle.size() > 1 ? 14 : 0, 0, 6);
  card.frame = new QFrame;
  card.frame->setProperty("kind", "card");
  auto* rows = new QVBoxLayout(card.frame);
  rows->setContentsMargins(1, 1, 1, 1);
  rows->setSpacing(0);
  m_cards->addWidget(card.title);
  m_cards->addWidget(card.frame);
  return card;
}

void HostView::refreshChecks() {
  const HostReport& report = m_context.checks->report(m_host);
  struct Shown {
    QString group;
    CheckLine line;
    CheckRow::Form form;
  };
  QVector<Shown> shown;
  const auto known = [&](const CheckLine& wanted) {
    for (const CheckLine& each : report.lines)
      if (each.group == wanted.group && each.name == wanted.name) return &each;
    return static_cast<const CheckLine*>(nullptr);
  };
  const Host* const host = m_context.hosts->store().find(m_host);
  QVector<CheckLine> awaited;
  if (report.checking || report.lines.isEmpty())
    awaited = report.before.isEmpty() ? HostChecks::expected(host) : report.before;
  for (const CheckLine& each : std::as_const(awaited)) {
    const CheckLine* const line = known(each);
    shown.append({each.group, line ? *line : each, line ? CheckRow::Form::known : CheckRow::Form::awaited});
  }
  for (const CheckLine& each : report.lines) {
    const bool there = std::any_of(awaited.begin(), awaited.end(), [&](const CheckLine& other) {
      return other.group == each.group && other.name == each.name;
    });
    if (!there) shown.append({each.group, each, CheckRow::Form::known});
  }
  // A host that is not reached keeps what was known of it, with its age.
  if (!report.checking && !report.lines.isEmpty() && !report.reached())
    for (const CheckLine& each : report.before)
      if (each.group != "Connection")
        shown.append({tr("%1, as of %2").arg(each.group, formatMoment(report.beforeAt)), each, CheckRow::Form::aged});

  QHash<QString, QStringList> order;
  for (const QString& group : {QStringLiteral("Connection"), QStringLiteral("Programs"),
                               QStringLiteral("Limits and room"), QStringLiteral("Network, measured")})
    if (std::any_of(shown.begin(), shown.end(), [&](const Shown& each) { return each.group == group; })) card(group);
  for (const Shown& each : std::as_const(shown)) {
    Card& there = card(each.group);
    order[each.group] << each.line.name;
    CheckRow*& row = there.rows[each.line.name];
    if (!row) row = new CheckRow;
    row->setLine(each.line, each.form);
  }
  for (auto each = m_byTitle.begin(); each != m_byTitle.end(); ++each) {
    Card& there = each.value();
    const QStringList wanted = order.value(each.key());
    there.title->setVisible(!wanted.isEmpty());
    there.frame->setVisible(!wanted.isEmpty());
    auto* rows = static_cast<QVBoxLayout*>(there.frame->layout());
    for (const QString& name : std::as_const(there.order))
      if (!wanted.contains(name)) delete there.rows.take(name);
    for (qsizetype i = 0; i < wanted.size(); ++i) {
      if (wanted != there.order) rows->insertWidget(static_cast<int>(i), there.rows[wanted[i]]);
      there.rows[wanted[i]]->setLast(i + 1 == wanted.size());
    }
    there.order = wanted;
  }
}

void HostView::refreshScript() {
  const Host* const host = m_context.hosts->store().find(m_host);
  const bool slurm = host && host->kind == HostKind::slurm;
  m_script->setVisible(slurm && m_editing);
  if (!slurm) return;
  const HostReport& report = m_context.checks->report(m_host);
  const QString base = report.base.isEmpty() ? host->folder : report.base;
  try {
    JobFile job;
    job.ranks = m_context.workspace->host() == m_host ? m_context.workspace->ranks() : 0;
    m_scriptText->setText(slurmScript(*host, "RUN", job, base + "/engine/VERSION/bin/loom", base + "/runs/RUN"));
  } catch (const Error& error) {
    m_scriptText->setText(QString::fromStdString(error.what()));
  }
}

void HostView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), m_context.theme->colour(Colour::app));
}

}  // namespace loom
